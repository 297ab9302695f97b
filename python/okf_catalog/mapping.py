"""Mappings that are part of a value: they cannot be changed, and can be hashed and pickled."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar, cast, final

from okf_catalog.checks import check_kind, check_str, check_text, type_name
from okf_catalog.errors import RefusedTypeError

__all__ = ["FrozenMapping", "text_items"]

_Value = TypeVar("_Value")


@final
class FrozenMapping(Mapping[str, _Value]):
    """An immutable mapping that prints as a dictionary, and keeps its order."""

    __slots__ = ("_pairs",)

    def __init__(self, pairs: Mapping[str, _Value]) -> None:
        self._pairs = dict(pairs)

    def __getitem__(self, key: str) -> _Value:
        return self._pairs[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._pairs)

    def __len__(self) -> int:
        return len(self._pairs)

    def __hash__(self) -> int:
        return hash(frozenset(self._pairs.items()))

    def __repr__(self) -> str:
        return repr(self._pairs)

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenMapping, (self._pairs,)


def text_items(field: str, given: object) -> Iterator[tuple[str, object]]:
    """The items of a mapping whose keys are texts. The values are not checked.

    Raises:
        RefusedTypeError: it is no mapping, its items are no pairs, or a key is no ``str``.
        RefusedValueError: a key holds a lone surrogate.
    """
    check_kind(field, given, Mapping, "a mapping of str to str")
    items = cast("object", cast("Mapping[object, object]", given).items())
    if not isinstance(items, Iterable):
        raise RefusedTypeError(f"{field} is a mapping with items, not {type_name(items)} for them")
    for place, item in enumerate(cast("Iterable[object]", items)):
        if not isinstance(item, tuple) or len(pair := cast("tuple[object, ...]", item)) != 2:
            raise RefusedTypeError(f"{field} is a mapping whose items are pairs; item {place} is none")
        key, value = pair
        yield check_text(f"key {place} of {field}", check_str(f"each key of {field}", key)), value
