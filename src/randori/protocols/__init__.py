"""Agents as programs that others drive: text protocols over stdin and stdout."""
