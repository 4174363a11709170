"""How Numba is to compile kernels: only what Python calls becomes machine code.

By itself Numba optimises every function that a kernel calls as a module of its own, makes machine
code of it, and does both again with the copy that it links into the caller. Of the time that
self-play of some 150 functions takes to compile, that is two fifths. So it is left out where only
kernels call a function. This leans on the inside of Numba (`compilers.py` says of which versions).
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.environment import lookup_environment
from numba.core.typed_passes import NativeLowering, NopythonTypeInference

ENVIRONMENT = "_ZN08NumbaEnv"
"""How the names of the places begin where a function finds its Python objects."""
UNRESOLVED = ".numba.unresolved$"
"""And of those where it finds the address of one that is called in a circle."""


class PartLibrary(JITCodeLibrary):
    """The code of a function that only kernels call."""

    @property
    def codegen(self) -> Any:
        """Return what makes code, but for places."""
        return _Placeless(self._codegen)

    def get_pointer_to_function(self, name: str) -> int:
        """Say that there is none."""
        self._ensure_finalized()
        return 0

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class _Placeless:
    """A code generator that is told of Python objects before there is a place for them."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, env: Any) -> None:
        """Leave it to `FurnishKernel`."""


@register_pass(mutates_CFG=False, analysis_only=True)
class MakePart(AnalysisPass):
    """Give a function the library that it will be lowered into."""

    _name = "make_part"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Change nothing else."""
        state.library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return True


@register_pass(mutates_CFG=False, analysis_only=True)
class FurnishKernel(AnalysisPass):
    """Tell the functions inside a kernel where their Python objects are, as loading one does.

    A kernel that goes through addresses cannot be loaded again: Numba would crash, so it is told
    not to keep it.
    """

    _name = "furnish_kernel"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Change nothing else."""
        for place in state.library._final_module.global_variables:
            env = lookup_environment(place.name) if place.name.startswith(ENVIRONMENT) else None
            if env is not None:
                state.targetctx.codegen().set_env(place.name, env)
            if place.name.startswith(UNRESOLVED):
                state.library._dynamic_globals.append(place.name)
        return True


class OnePassMore(CompilerBase):
    """Compiles by Numba's own passes, and one more."""

    more: Any
    after: Any

    def define_pipelines(self) -> list[Any]:
        """Return the passes."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(self.more, self.after)
        passes.finalize()
        return [passes]


class PartCompiler(OnePassMore):
    """Compiles what only kernels call."""

    more, after = MakePart, NopythonTypeInference


class KernelCompiler(OnePassMore):
    """Compiles what Python calls."""

    more, after = FurnishKernel, NativeLowering
