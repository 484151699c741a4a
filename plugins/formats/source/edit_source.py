"""Source code is never edited: the line to change is told instead."""

from __future__ import annotations

from typing import NoReturn

from advisor.api import CannotEdit, Document, EditStep, Source


def edit(source: Source, document: Document, step: EditStep) -> NoReturn:
    what = {"remove": f"take {step.key} out", "rename": f"call it {step.value}"}.get(
        step.action, f"set {step.key} = {step.value}"
    )
    raise CannotEdit(f"it is source code: {what} by hand", step.line or document.line)
