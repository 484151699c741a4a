"""Our NamedTuple is typing's: every class of the product, made anew by typing, behaves the same."""

from __future__ import annotations

import copy
import pickle
import typing
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Generic, TypeVar

import pytest

from advisor.tuples import NamedTuple

T = TypeVar("T")


class Place(NamedTuple):
    """Where it is."""

    file: str
    line: int | None = None

    @property
    def told(self) -> str:
        return f"{self.file}:{self.line}"


class Typings(typing.NamedTuple):
    file: str
    line: int | None = None


class Held(NamedTuple, Generic[T]):
    value: T
    again: tuple[T, ...] = ()


def test_it_is_made_read_and_told_as_typings() -> None:
    ours, theirs = Place("a", 3), Typings("a", 3)
    assert ours == theirs == ("a", 3)
    assert hash(ours) == hash(theirs)
    assert repr(ours) == repr(theirs).replace("Typings", "Place")
    assert ours._asdict() == theirs._asdict()
    assert Place._fields == Typings._fields
    assert Place._field_defaults == Typings._field_defaults
    assert Place.__match_args__ == Typings.__match_args__
    assert Place(line=4, file="b") == ("b", 4)
    assert Place("c").line is None
    assert Place.__doc__ == "Where it is."
    assert ours.told == "a:3"
    assert ours._replace(line=5) == Place._make(["a", 5])
    assert type(ours._replace(line=5)) is Place
    assert typing.get_type_hints(Place) == {"file": str, "line": int | None}
    match ours:
        case Place(file, 3):
            assert file == "a"
        case _:
            pytest.fail("no match")


def test_it_is_copied_and_pickled_under_its_own_name() -> None:
    for made in (Place("a", 1), Held(1, (2,))):
        for again in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made), copy.copy(made)):
            assert again == made
            assert type(again) is type(made)
    assert Held[int](1).value == 1


@pytest.mark.parametrize("given", [(), ("a", 1, 2)])
def test_wrong_numbers_of_fields_are_refused(given: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError):
        Place(*given)
    with pytest.raises(TypeError):
        Place._make(given)


def test_wrong_names_are_refused() -> None:
    with pytest.raises(TypeError):
        Place(file="a", lines=3)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="lines"):
        Place("a")._replace(lines=3)
    with pytest.raises(AttributeError):
        Place("a").file = "b"  # type: ignore[misc]
    with pytest.raises(TypeError, match="without a default"):
        type(NamedTuple)("Wrong", (NamedTuple,), {"__annotations__": {"a": "int", "b": "int"}, "a": 1})


def _classes() -> Iterator[type[Any]]:
    for name in ("advisor.model", "advisor.context", "advisor.hookspecs", "advisor.sim.search.verdict"):
        module = import_module(name)
        yield from (one for one in vars(module).values() if hasattr(one, "_fields"))


@pytest.mark.parametrize("kind", _classes(), ids=lambda kind: kind.__name__)
def test_classes_of_the_product_equal_typings(kind: type[Any]) -> None:
    fields = [(name, Any) for name in kind._fields]
    twin: Any = typing.NamedTuple(kind.__name__, fields)  # type: ignore[misc]
    values = [f"value {number}" for number in range(len(fields))]
    named = dict(zip(kind._fields, values, strict=True))
    assert kind(*values) == kind(**named) == twin(**named)
    assert kind(*values)._asdict() == twin(*values)._asdict()
