"""Connects Schemathesis with the users and with the rules that no schema expresses, and records which operations succeed."""

import atexit
import json
import os
import uuid

import schemathesis

import examples
import valid_requests
from users import User, Users

users = Users()
user_by_token: dict[str, User] = {}
succeeded: set[str] = set()


def id_of(operation) -> str:
    return operation.definition.raw["operationId"]


@schemathesis.auth(refresh_interval=None)
class Session:
    def get(self, case, context):
        if not list(context.operation.security.iter_parameters()):
            return None
        user = users.sender_of(id_of(context.operation))
        user_by_token[user.token] = user
        return user.token

    def set(self, case, token, context):
        case.headers["Authorization"] = f"Bearer {token}"


@schemathesis.hook
def filter_body(context, body):
    # All fields of a form are text. A boolean, generated as an invalid title, would arrive as the valid title "true".
    if "multipart/form-data" not in context.operation.get_request_payload_content_types() or not isinstance(body, dict):
        return True
    return not any(isinstance(body.get(name), (bool, int, float)) for name in valid_requests.TEXT_FIELDS)


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    operation = id_of(case.operation)
    token = case.headers.get("Authorization", "").removeprefix("Bearer ")
    if isinstance(case.body, dict):
        case.body = dict(case.body)
        case.multipart_content_types = dict(case.multipart_content_types or {})
        valid_requests.correct_body(operation, case.body, case.multipart_content_types, user_by_token.get(token))
    if "Idempotency-Key" in (case.headers or {}):
        # Each form is a new post, so it needs a new key.
        case.headers["Idempotency-Key"] = str(uuid.uuid4())
    for parameters in (case.path_parameters, case.query):
        examples.replace_example(operation, parameters, users)
    valid_requests.correct_ids(operation, case.query, users)
    valid_requests.correct_cursor(case.query)
    if operation == "listFriendRequests":
        # Links continue with a request from the list, which is empty unless another user sends one.
        examples.incoming_request(users)
    # Otherwise Schemathesis would validate the changed request again. Its validator does not accept bytes, so a form with an
    # image would count as invalid.
    case._record_starting_state()


@schemathesis.hook
def after_call(context, case, response):
    if 200 <= response.status_code < 300:
        succeeded.add(id_of(case.operation))


@atexit.register
def write_succeeded_operations():
    with open(os.environ["SUCCEEDED_OPERATIONS"], "w") as file:
        json.dump(list(succeeded), file)
