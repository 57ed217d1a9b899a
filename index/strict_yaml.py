"""YAML as our data files are written: every scalar is text, and a key given twice is an error, not the last one winning."""

from __future__ import annotations

from typing import Any

import yaml


# The base loader keeps every scalar a string: in YAML 1.1 a bare 31 is a number and 12E1 may be one.
class StrictLoader(getattr(yaml, "CBaseLoader", yaml.BaseLoader)):  # type: ignore[misc]
    """The base loader, but a key given twice is an error. Raises `yaml.MarkedYAMLError`."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """A mapping whose keys differ."""
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        twice = [key for key in keys if keys.count(key) > 1]
        if twice:
            raise yaml.MarkedYAMLError(problem=f"the key {twice[0]} stands twice", problem_mark=node.start_mark)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping
