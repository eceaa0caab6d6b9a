"""The two kinds of errors: what a user can mend, and what is our fault."""


class UserError(Exception):
    """Something the user can mend: what is wrong (with values) and the way out, one line each."""

    def __init__(self, message: str, remedy: str = "", exit_code: int = 2) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.exit_code = exit_code


class InternalError(Exception):
    """A fault of iostrata itself: the text says what was expected and what was found."""
