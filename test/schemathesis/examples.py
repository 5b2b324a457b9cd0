"""The document's examples come true: what they name is made, so that every operation succeeds by its example at least."""

from collections.abc import Callable

from people import Cast, Person

IMAGE = {"image": ("dot.gif", b"GIF89a of a kind", "image/gif")}


def post(cast: Cast) -> dict:
    return cast.caller().ask("POST", "/posts/create", data={"title": "One", "text": "of many"}, files=IMAGE)


def post_id(cast: Cast) -> int:
    return post(cast)["id"]


def post_image(cast: Cast) -> str:
    return post(cast)["image"].rsplit("/", 1)[-1]


def profile_image(cast: Cast) -> str:
    return Person().ask("PUT", "/profiles/me", files=IMAGE)["profile_link"].rsplit("/", 1)[-1]


def session(cast: Cast) -> str:
    return cast.of_many_sessions().ask("GET", "/auth/sessions")[0]["id"]


def stranger(cast: Cast) -> int:
    return Person().id


def who_has_asked(cast: Cast) -> int:
    person = Person()
    person.ask("POST", "/friends/request", params={"to": cast.caller().id})
    return person.id


def who_is_asked(cast: Cast) -> int:
    person = Person()
    cast.caller().ask("POST", "/friends/request", params={"to": person.id})
    return person.id


def friend(cast: Cast) -> int:
    person = who_has_asked(cast)
    cast.caller().ask("POST", "/friends/accept", params={"from": person})
    return person


# By operation: the example as it stands in the document, and what stands in for it.
EXAMPLES: dict[str, tuple[str, object, Callable[[Cast], object]]] = {
    "deleteSession": ("id", "5d0c7e8a-2f43-4b9e-8a66-1e9d7b3c4f21", session),
    "getProfile": ("id", 12, stranger),
    "getProfileImage": ("filename", "3f9c1d7ae05b4286b1c4d2e97a60f385.jpg", profile_image),
    "getPost": ("id", 43, post_id),
    "getPostImage": ("filename", "3f9c1d7ae05b4286b1c4d2e97a60f385.jpg", post_image),
    "editPost": ("id", 42, post_id),
    "deletePost": ("id", 42, post_id),
    "likePost": ("id", 42, post_id),
    "unlikePost": ("id", 42, post_id),
    "sendFriendRequest": ("to", 12, stranger),
    "acceptFriendRequest": ("from", 12, who_has_asked),
    "declineFriendRequest": ("from", 12, who_has_asked),
    "cancelFriendRequest": ("to", 12, who_is_asked),
    "removeFriend": ("id", 12, friend),
    "createRelationship": ("them", 12, stranger),
}


def come_true(operation: str, parameters: dict, cast: Cast) -> None:
    """Puts what is there in the place of an example, in a request's query or path."""
    if operation not in EXAMPLES:
        return
    name, example, make = EXAMPLES[operation]
    if parameters.get(name) in (example, str(example)):
        parameters[name] = make(cast)
