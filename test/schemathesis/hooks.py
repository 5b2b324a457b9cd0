"""Sends the requests that Schemathesis generates as a registered user."""

import os
import secrets

import requests
import schemathesis

PASSWORD = "Quiet-Harbour-27!"
TEXT_FIELDS = ("name", "username", "email", "password", "current_password", "title", "text")


def send(path: str, json: dict) -> dict:
    response = requests.post(os.environ["BASE_URL"] + path, json=json, timeout=30)
    response.raise_for_status()
    return response.json()


def log_in() -> str:
    """Registers a user, and returns the token of a new session."""
    name = f"u{secrets.token_hex(8)}"
    account = {"email": f"{name}@users.example", "password": PASSWORD}
    send("/auth/register", {"name": name, "username": name, **account})
    return send("/auth/login", account)["token"]


shared_token = log_in()


@schemathesis.auth(refresh_interval=None)
class Session:
    def get(self, case, context):
        # A logout would end the session of the other operations.
        return log_in() if context.operation.definition.raw["operationId"] == "logout" else shared_token

    def set(self, case, token, context):
        case.headers["Authorization"] = f"Bearer {token}"


@schemathesis.hook
def filter_body(context, body):
    # All fields of a form are text. A boolean, generated as an invalid title, would arrive as the valid title "true".
    if "multipart/form-data" not in context.operation.get_request_payload_content_types() or not isinstance(body, dict):
        return True
    return not any(isinstance(body.get(name), (bool, int, float)) for name in TEXT_FIELDS)
