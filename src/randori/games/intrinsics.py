"""What some functions of `kernels.py` are when compiled: an instruction, or room on the stack."""

from typing import Any

from llvmlite import ir as untyped_ir
from numba import types
from numba.core import cgutils as untyped_cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numba.np import arrayobj

from randori.games.kernels import lowest, popcount, prefetch, reverse, scratch

arrays: Any = arrayobj
cgutils: Any = untyped_cgutils
ir: Any = untyped_ir


def _popcount(typing: Any, word: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), emit


def _lowest(typing: Any, word: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(types.boolean, True))

    return types.int64(types.uint64), emit


def _reverse(typing: Any, word: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.bitreverse(args[0])

    return types.uint64(types.uint64), emit


def _scratch(typing: Any, size: Any) -> Any:
    if not isinstance(size, types.IntegerLiteral):
        raise TypingError("scratch(size) wants a literal or a module constant")
    row, length = types.Array(types.uint64, 1, "C"), size.literal_value

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        word = context.get_value_type(types.uint64)
        words = cgutils.alloca_once(builder, word, size=length)
        cgutils.memset(builder, words, context.get_constant(types.intp, 8 * length), 0)
        made = arrays.make_array(row)(context, builder)
        size, step = (context.get_constant(types.intp, number) for number in (length, 8))
        arrays.populate_array(
            made, data=words, shape=[size], strides=[step], itemsize=step, meminfo=None
        )
        return made._getvalue()

    return row(size), emit


def _prefetch(typing: Any, array: Any, index: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        made = arrays.make_array(sig.args[0])(context, builder, args[0])
        where = cgutils.get_item_pointer(
            context, builder, sig.args[0], made, [args[1]], wraparound=False
        )
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        signature = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        hint = cgutils.get_or_insert_function(builder.module, signature, "llvm.prefetch.p0")
        read, near, data = flag(0), flag(3), flag(1)
        builder.call(hint, [builder.bitcast(where, byte), read, near, data])
        return context.get_dummy_value()

    return types.void(array, types.intp), emit


INTRINSICS: dict[Any, Any] = {
    popcount: intrinsic(_popcount),
    lowest: intrinsic(_lowest),
    reverse: intrinsic(_reverse),
    prefetch: intrinsic(_prefetch),
    scratch: intrinsic(prefer_literal=True)(_scratch),
}
"""What stands in compiled code for each."""
