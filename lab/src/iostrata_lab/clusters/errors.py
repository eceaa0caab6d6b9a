"""The one error that the lab raises for its users."""

from __future__ import annotations

from iostrata.errors import UserError


class LabError(UserError):
    """What went wrong and the way out; `log` holds a daemon's last lines when one died."""

    def __init__(self, message: str, remedy: str, log: str = "") -> None:
        super().__init__(message, remedy)
        self.log = log

    def __str__(self) -> str:
        text = f"{self.message} ({self.remedy})" if self.remedy else self.message
        return f"{text}\n{self.log}" if self.log else text
