"""People of the service, made as they are needed."""

import os
import secrets

import requests

BASE_URL = os.environ["BASE_URL"]
PASSWORD = "Quiet-Harbour-27!"


class Person:
    """Somebody with an account of their own, and with a session."""

    def __init__(self) -> None:
        self.username = f"u{secrets.token_hex(8)}"
        self.email = f"{self.username}@people.example"
        self.password = PASSWORD
        account = {"name": "Some Body", "username": self.username, "email": self.email, "password": self.password}
        self.id = self._ask("POST", "/auth/register", json=account)["id"]
        self.token = self.log_in()

    def log_in(self) -> str:
        """Starts one more session, and answers its token."""
        return self._ask("POST", "/auth/login", json={"email": self.email, "password": self.password})["token"]

    def ask(self, method: str, path: str, **more):
        return self._ask(method, path, headers={"Authorization": f"Bearer {self.token}"}, **more)

    def _ask(self, method: str, path: str, **more):
        response = requests.request(method, BASE_URL + path, timeout=30, **more)
        response.raise_for_status()
        return response.json()


class Cast:
    """Who asks for what: by a session that outlives what the request does to its own."""

    # They end sessions. Each request gets a new one, of somebody whose sessions nobody else needs.
    ON_SESSIONS = {"listSessions", "logout", "deleteSession", "deleteOtherSessions"}
    # They change or end the account.
    ON_ACCOUNT = {"updateProfile", "deleteAccount"}

    def __init__(self) -> None:
        self._roles: dict[str, Person] = {}

    def credentials_for(self, operation: str) -> tuple[Person, str]:
        if operation in self.ON_ACCOUNT:
            person = Person()
            return person, person.token
        if operation in self.ON_SESSIONS:
            person = self.of_many_sessions()
            person.token = person.log_in()
            return person, person.token
        person = self.caller()
        return person, person.token

    def caller(self) -> Person:
        """Who asks for all that leaves account and session alone."""
        return self._in_role("caller")

    def somebody_else(self) -> Person:
        return self._in_role("somebody else")

    def of_many_sessions(self) -> Person:
        return self._in_role("of many sessions")

    def _in_role(self, role: str) -> Person:
        if role not in self._roles:
            self._roles[role] = Person()
        return self._roles[role]
