"""Why one value of one key is refused."""


class Problem(Exception):
    """A value that its definition refuses; carries everything of the Reason but the key."""

    def __init__(self, kind: str, detail: str, needs: str | None = None, near: str | None = None) -> None:
        super().__init__(detail)
        self.kind, self.detail, self.needs, self.near = kind, detail, needs, near
