"""Users of the service, registered when they are needed."""

import os
import secrets
from functools import cached_property

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

    def sender_of(self, operation: str) -> User:
        """Returns the user who sends a request, with the token to send."""
        if operation in self.ACCOUNT_OPERATIONS:
            return User()
        if operation in self.SESSION_OPERATIONS:
            self.with_many_sessions.token = self.with_many_sessions.log_in()
            return self.with_many_sessions
        return self.main

    @cached_property
    def main(self) -> User:
        """The user of the operations that change neither account nor session."""
        return User()

    @cached_property
    def other(self) -> User:
        """A user to whom the main user can send friend requests."""
        return User()

    @cached_property
    def with_many_sessions(self) -> User:
        """The user of the operations on sessions."""
        return User()
