"""Replaces the ids and file names of the document's examples with existing ones, so that every example succeeds."""

from collections.abc import Callable

from users import User, Users

IMAGE = {"image": ("dot.gif", b"GIF89a and more", "image/gif")}


def create_post(users: Users) -> dict:
    return users.main.send("POST", "/posts/create", data={"title": "A title", "text": "A text"}, files=IMAGE)


def post_id(users: Users) -> int:
    return create_post(users)["id"]


def post_image(users: Users) -> str:
    return create_post(users)["image"].rsplit("/", 1)[-1]


def profile_image(users: Users) -> str:
    return User().send("PUT", "/profiles/me", files=IMAGE)["profile_link"].rsplit("/", 1)[-1]


def session_id(users: Users) -> str:
    return users.with_many_sessions.send("GET", "/auth/sessions")[0]["id"]


def new_user(users: Users) -> int:
    """Returns the id of a new user. All functions of EXAMPLES have the same parameter."""
    return User().id


def incoming_request(users: Users) -> int:
    """Returns the id of a new user, who has sent the main user a friend request."""
    user = User()
    user.send("POST", "/friends/request", params={"to": users.main.id})
    return user.id


def outgoing_request(users: Users) -> int:
    """Returns the id of a new user, to whom the main user has sent a friend request."""
    user = User()
    users.main.send("POST", "/friends/request", params={"to": user.id})
    return user.id


def friend(users: Users) -> int:
    """Returns the id of a new user, who is a friend of the main user."""
    user = incoming_request(users)
    users.main.send("POST", "/friends/accept", params={"from": user})
    return user


# By operation: the parameter, its value in the document's example, and the function that returns an existing value.
EXAMPLES: dict[str, tuple[str, object, Callable[[Users], object]]] = {
    "deleteSession": ("id", "5d0c7e8a-2f43-4b9e-8a66-1e9d7b3c4f21", session_id),
    "getProfile": ("id", 12, new_user),
    "getProfileImage": ("filename", "d47b90e6c35f4e18b02a9f6c8e71d5a3.png", profile_image),
    "getPost": ("id", 43, post_id),
    "getPostImage": ("filename", "3f9c1d7ae05b4286b1c4d2e97a60f385.png", post_image),
    "editPost": ("id", 42, post_id),
    "deletePost": ("id", 42, post_id),
    "likePost": ("id", 42, post_id),
    "unlikePost": ("id", 42, post_id),
    "sendFriendRequest": ("to", 8, new_user),
    "acceptFriendRequest": ("from", 9, incoming_request),
    "declineFriendRequest": ("from", 9, incoming_request),
    "cancelFriendRequest": ("to", 8, outgoing_request),
    "removeFriend": ("id", 12, friend),
    "createRelationship": ("them", 10, new_user),
}


def replace_example(operation: str, parameters: dict, users: Users) -> None:
    """Replaces the value of the document's example, in the query or path of a request, with an existing one."""
    if operation not in EXAMPLES:
        return
    name, example, existing = EXAMPLES[operation]
    if parameters.get(name) in (example, str(example)):
        parameters[name] = existing(users)
