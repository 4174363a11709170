"""The papers' experiments, each a short file over the parts below: numbers out, nothing printed."""
