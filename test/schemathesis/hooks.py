"""Joins Schemathesis to the people who ask and to the words that requests obey, and counts what is answered."""

import atexit
import json
import os
import uuid
from collections import Counter, defaultdict

import schemathesis

import examples
import words
from people import Cast, Person

cast = Cast()
by_token: dict[str, Person] = {}
answers: defaultdict[str, Counter[int]] = defaultdict(Counter)


def id_of(operation) -> str:
    return operation.definition.raw["operationId"]


@schemathesis.auth(refresh_interval=None)
class Session:
    def get(self, case, context):
        if not list(context.operation.security.iter_parameters()):
            return None
        person, token = cast.credentials_for(id_of(context.operation))
        by_token[token] = person
        return token

    def set(self, case, token, context):
        case.headers["Authorization"] = f"Bearer {token}"


@schemathesis.hook
def filter_body(context, body):
    # In a form everything is text: `true` for a title is made to break its type, and arrives as four letters.
    if "multipart/form-data" not in context.operation.get_request_payload_content_types() or not isinstance(body, dict):
        return True
    return not any(isinstance(body.get(name), (bool, int, float)) for name in words.TEXTS)


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    operation = id_of(case.operation)
    token = case.headers.get("Authorization", "").removeprefix("Bearer ")
    if isinstance(case.body, dict):
        case.body = dict(case.body)
        case.multipart_content_types = dict(case.multipart_content_types or {})
        words.obey(operation, case.body, case.multipart_content_types, by_token.get(token))
    if "Idempotency-Key" in (case.headers or {}):
        # Each form is a new post, and takes a key of its own.
        case.headers["Idempotency-Key"] = str(uuid.uuid4())
    for parameters in (case.path_parameters, case.query):
        examples.come_true(operation, parameters, cast)
    words.obey_about_ids(operation, case.query, cast)
    if operation == "listFriendRequests":
        # Links lead on from here, and no request is there unless somebody else asks.
        examples.who_has_asked(cast)
    # Else what has changed would be judged anew, and no validator of schemas takes bytes: a form with an image would count
    # as invalid.
    case._record_starting_state()


@schemathesis.hook
def after_call(context, case, response):
    answers[id_of(case.operation)][response.status_code] += 1


@atexit.register
def write_answers():
    with open(os.environ["ANSWERS"], "w") as file:
        json.dump(answers, file)
