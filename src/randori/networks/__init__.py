"""Networks that judge positions, and the runtimes that run them. They know no game by name.

In reading order:

    config           NetworkConfig, what to build; Signature, what a game asks for (no torch)
    planes           packed words to planes, in torch and in Numba
    layers           the pieces of a trunk, and how they shrink for inference
    heads            policy by factors, value by pooling
    resnet cnn mlp   the trunks
    build            build(config, signature) -> module
    lanes            what the runtimes share; evaluate(evaluator, words)
    torch_runtime    anywhere torch runs
    openvino_runtime the fast way on a CPU
    cuda_runtime     captured graphs on an NVIDIA card
    choose           make_evaluator(network, signature, ..., runtime="auto")
"""

from randori.networks.config import NetworkConfig, Signature

__all__ = ["NetworkConfig", "Signature"]
