"""Exceptions: one for each status of the library, all of them carom.Error."""
from __future__ import annotations


class Error(RuntimeError):
    """What the library refused or could not do; the message says what would be accepted."""

    status: str = "ERR"


class ArgumentError(Error, ValueError):
    """An argument is not acceptable."""


class FileError(Error, OSError):
    """A file could not be opened, read or written."""


class FormatError(Error, ValueError):
    """A file does not say what its format asks for."""


class MeshError(Error, ValueError):
    """A mesh cannot serve as asked."""


class SceneError(Error, ValueError):
    """A scene cannot be built."""


class IntersectingError(Error, ValueError):
    """Bodies intersect."""


class NoConvergenceError(Error, ArithmeticError):
    """An iteration did not converge; the state is what it was before."""


class NotFiniteError(Error, ValueError):
    """A number is not finite."""


class MisuseError(Error):
    """Calls came in an order that has no meaning."""


class ClosedError(MisuseError):
    """The object was closed."""


class InterruptedError(Error):
    """The caller asked to stop."""


# in the order of carom_status
_BY_STATUS = (None, ArgumentError, MemoryError, FileError, FormatError, MeshError, SceneError,
              IntersectingError, NoConvergenceError, NoConvergenceError, NotFiniteError,
              MisuseError, InterruptedError)
_NAMES = ("OK", "ERR_ARGUMENT", "ERR_MEMORY", "ERR_FILE", "ERR_FORMAT", "ERR_MESH", "ERR_SCENE",
          "ERR_INTERSECTING", "ERR_NOT_POSITIVE", "ERR_NO_CONVERGENCE", "ERR_NOT_FINITE",
          "ERR_MISUSE", "ERR_INTERRUPTED")


def make(status: int, message: str) -> BaseException:
    """The exception for a status."""
    kind = _BY_STATUS[status] if 0 < status < len(_BY_STATUS) else Error
    error = kind(message)
    if isinstance(error, Error):
        error.status = _NAMES[status] if 0 < status < len(_NAMES) else "ERR"
    return error
