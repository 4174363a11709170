"""The command line; nothing else in the package imports it."""

from randori.cli.app import main

__all__ = ["main"]
