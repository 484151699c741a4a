"""`NamedTuple`, as typing's for a type checker and for whoever uses one, but made for a tenth of the cost.

A plain audit makes some eighty such classes before it reads a file. typing compiles each annotation to a
forward reference and each class from source text: a fifth of the whole start. Here annotations stay the text
they are, and `__new__` is one compiled function for each number of fields, given other parameter names.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from _collections import _tuplegetter

    def _make(cls: type, values: Iterable[Any]) -> Any:
        made = tuple.__new__(cls, values)
        if len(made) != len(cls._fields):
            raise TypeError(f"{cls.__name__} has {len(cls._fields)} fields, not {len(made)}")
        return made

    def _replace(self: Any, /, **changed: Any) -> Any:
        made = self._make(map(changed.pop, self._fields, self))
        if changed:
            raise ValueError(f"{type(self).__name__} has no field {', '.join(changed)}")
        return made

    def _repr(self: Any) -> str:
        values = (f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True))
        return f"{type(self).__name__}({', '.join(values)})"

    _METHODS = {
        "_make": classmethod(_make),
        "_replace": _replace,
        "__replace__": _replace,
        "_asdict": lambda self: dict(zip(self._fields, self, strict=True)),
        "__getnewargs__": lambda self: tuple(self),
        "__repr__": _repr,
        "__slots__": (),
    }
    _GLOBALS = {"__builtins__": {}, "tuple_new": tuple.__new__}
    _new_of: dict[int, Any] = {}

    def _new(fields: tuple[str, ...], defaults: tuple[Any, ...]) -> FunctionType:
        count = len(fields)
        if count not in _new_of:
            names = "".join(f"f{number}, " for number in range(count))
            _new_of[count] = eval(f"lambda _cls, {names}: tuple_new(_cls, ({names}))", _GLOBALS).__code__
        code = _new_of[count].replace(co_varnames=("_cls", *fields), co_name="__new__")
        return FunctionType(code, _GLOBALS, "__new__", defaults)

    class _Maker(type):
        def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            fields = tuple(body.get("__annotations__", ()))
            defaults = {field: body.pop(field) for field in fields if field in body}
            if tuple(defaults) != fields[len(fields) - len(defaults) :]:
                raise TypeError(f"{name}: a field without a default after one with a default")
            for number, field in enumerate(fields):
                body[field] = _tuplegetter(number, None)
            body.update(
                _METHODS, __slots__=(), __match_args__=fields, _fields=fields, _field_defaults=defaults
            )
            body["__new__"] = _new(fields, tuple(defaults.values()))
            return type(name, (tuple, *bases[1:]), body)

    NamedTuple = type.__new__(_Maker, "NamedTuple", (), {})
