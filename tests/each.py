"""`@each("version", VERSIONS)`: as `pytest.mark.parametrize`, but one test for all cases.

For cases that differ in a value only and cost milliseconds: a thousand tests of one rule are slower to collect, to send
to workers and to read than one test that names every case which failed. Fixtures are made once for all cases.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Test = TypeVar("Test", bound="Callable[..., Any]")
SHOWN = 10
"""How many failed cases a failure prints."""


def each(names: str | tuple[str, ...], cases: Iterable[Any], ids: object = None) -> Callable[[Test], Test]:
    """Run the test once for each case. Raises ExceptionGroup with the failure of each case that failed."""
    keys = [key.strip() for key in names.split(",")] if isinstance(names, str) else list(names)
    table = [_values(case, len(keys)) for case in cases]
    assert table, f"no cases of {names}"

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)
        rest = [parameter for name, parameter in signature.parameters.items() if name not in keys]

        @functools.wraps(test)
        def all_cases(**fixtures: Any) -> None:
            failed = []
            for values in table:
                try:
                    outcome = test(**fixtures, **dict(zip(keys, values, strict=True)))
                    if inspect.iscoroutine(outcome):
                        asyncio.run(outcome)
                except (Exception, pytest.fail.Exception) as problem:  # noqa: BLE001 - raised below, with the others
                    problem.add_note(f"case: {', '.join(f'{k}={v!r}' for k, v in zip(keys, values, strict=True))}")
                    failed.append(problem)
            if failed:
                raise BaseExceptionGroup(f"{len(failed)} of {len(table)} cases failed", failed[:SHOWN])

        all_cases.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]
        return all_cases  # type: ignore[return-value]

    return decorate


def _values(case: Any, count: int) -> tuple[Any, ...]:
    if hasattr(case, "values") and hasattr(case, "marks"):  # pytest.param
        assert not case.marks, "a case of `each` has no marks of its own"
        return tuple(case.values)
    return tuple(case) if count > 1 else (case,)
