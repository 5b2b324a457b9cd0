"""Users of the service, registered when they are needed."""

import os
import secrets

import requests

BASE_URL = os.environ["BASE_URL"]
PASSWORD = "Quiet-Harbour-27!"


class User:
    """A registered user with a session."""

    def __init__(self) -> None:
        self.username = f"u{secrets.token_hex(8)}"
        self.email = f"{self.username}@users.example"
        self.password = PASSWORD
        account = {"name": "A Name", "username": self.username, "email": self.email, "password": self.password}
        self.id = self._send("POST", "/auth/register", json=account)["id"]
        self.token = self.log_in()

    def log_in(self) -> str:
        """Creates another session, and returns its token."""
        return self._send("POST", "/auth/login", json={"email": self.email, "password": self.password})["token"]

    def send(self, method: str, path: str, **options):
        """Sends an authenticated request, and returns the JSON of the response. Raises an error unless it succeeds."""
        return self._send(method, path, headers={"Authorization": f"Bearer {self.token}"}, **options)

    def _send(self, method: str, path: str, **options):
        response = requests.request(method, BASE_URL + path, timeout=30, **options)
        response.raise_for_status()
        return response.json()


class Users:
    """The users of a run. Requests that end sessions or accounts get users of their own."""

    # Each request of these operations gets a new session of a user whom no other operation uses.
    SESSION_OPERATIONS = {"listSessions", "logout", "deleteSession", "deleteOtherSessions"}
    # These operations change or delete the account, so each request gets a new user.
    ACCOUNT_OPERATIONS = {"updateProfile", "deleteAccount"}

    def __init__(self) -> None:
        self._by_role: dict[str, User] = {}

    def credentials_for(self, operation: str) -> tuple[User, str]:
        """Returns the user who sends a request, and the token to send."""
        if operation in self.ACCOUNT_OPERATIONS:
            user = User()
            return user, user.token
        if operation in self.SESSION_OPERATIONS:
            user = self.with_many_sessions()
            user.token = user.log_in()
            return user, user.token
        user = self.main()
        return user, user.token

    def main(self) -> User:
        """Returns the user of the operations that change neither account nor session."""
        return self._in_role("main")

    def other(self) -> User:
        """Returns a user to whom the main user can send friend requests."""
        return self._in_role("other")

    def with_many_sessions(self) -> User:
        """Returns the user of the operations on sessions."""
        return self._in_role("with many sessions")

    def _in_role(self, role: str) -> User:
        if role not in self._by_role:
            self._by_role[role] = User()
        return self._by_role[role]
