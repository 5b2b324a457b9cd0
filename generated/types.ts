// Generated from openapi.yaml by `npm run generate`. Do not edit.

export interface paths {
    "/auth/register": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Register an account
         * @description Creates a public account and returns its id, but does not start a session. Usernames are unique regardless of letter case and Unicode form (NFKC case folding). Email addresses are trimmed and lowercased, and are unique in that form. The operator can close the registration.
         */
        post: operations["register"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Log in
         * @description Starts a session, returns its token, and sets the token as the cookie `fc_session_token`. `GET /auth/sessions` lists the session with the `User-Agent` of this request. An unknown email address, a malformed email address and a wrong password return the same 401 after the same time. An account has at most 100 sessions, unless the operator sets another limit. A login beyond the limit ends the least recently used session.
         */
        post: operations["login"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get your own account
         * @description Returns the authenticated user's account. Only this operation and `GET /auth/verify` return the email address.
         */
        get: operations["getCurrentAccount"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Verify the session
         * @description Returns the authenticated user's account if the session is valid, and 401 if it is not.
         */
        get: operations["verifySession"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Log out
         * @description Ends the current session and clears the cookie. The token of the session is no longer valid.
         */
        post: operations["logout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sessions
         * @description Returns the authenticated user's sessions that have not expired, most recently used first.
         */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        /**
         * End all other sessions
         * @description Ends all sessions of the authenticated user except the current one. Their tokens are no longer valid.
         */
        delete: operations["deleteOtherSessions"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End a session
         * @description Ends one of the authenticated user's sessions. The token of the session is no longer valid. If it is the current session, the cookie is cleared too.
         */
        delete: operations["deleteSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/profiles/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get your own profile
         * @description Returns the authenticated user's own full profile.
         */
        get: operations["getOwnProfile"];
        /**
         * Update your own profile
         * @description Updates the authenticated user's account and profile. The form contains the fields to change. Omitted fields remain
         *     unchanged. A form that changes nothing returns 400, such as a form with only `current_password` or `remove_image=false`. A
         *     field that is set to its current value counts as a change.
         *
         *     To change the password, send `password` and `current_password`. The new password must meet the password policy with the
         *     username and email address that the account has after the update. A password change ends all sessions of the account,
         *     including the current one, and clears the cookie. `current_password` is checked whenever it is sent.
         *
         *     `image` replaces the profile picture, and `remove_image=true` removes it. A form with both returns 400.
         */
        put: operations["updateProfile"];
        post?: never;
        /**
         * Delete your own account
         * @description Permanently deletes the account and everything that belongs to it: posts and their images, the profile picture, likes, friendships, friend requests and sessions. Clears the cookie.
         */
        delete: operations["deleteAccount"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/profiles/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a profile
         * @description Returns a user's profile. The profile is full if the account is public, belongs to a friend, or is the authenticated user's own. Otherwise it contains only `id`, `name` and `username`.
         */
        get: operations["getProfile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/profiles/image/{filename}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download a profile picture
         * @description Returns the bytes of a profile picture. Only users who may see the full profile can download it.
         */
        get: operations["getProfileImage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/posts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the feed
         * @description Returns a page of the posts that the authenticated user may see, including their own. Posts are ordered newest first: by `created_at`, then by `id`. The section Pagination describes how to get the next page.
         */
        get: operations["listPosts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/posts/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your own posts
         * @description Returns a page of the authenticated user's own posts, with the order and the pagination of `GET /posts`.
         */
        get: operations["listOwnPosts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/posts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a post
         * @description Returns a post that the authenticated user may see. `comments` is reserved and always empty.
         */
        get: operations["getPost"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/posts/image/{filename}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download a post's image
         * @description Returns the bytes of a post's image. Only users who may see the post can download it.
         */
        get: operations["getPostImage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/posts/create": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a post
         * @description Creates a post by the authenticated user. With an `Idempotency-Key`, a retry does not create a second post.
         */
        post: operations["createPost"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/posts/edit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Edit a post
         * @description Updates one of the authenticated user's own posts. The form contains the fields to change. Omitted fields remain
         *     unchanged. A form that changes nothing returns 400, such as a form with only `remove_image=false`. A field that is set to
         *     its current value counts as a change.
         *
         *     `image` replaces the image, and `remove_image=true` removes it. A form with both returns 400.
         */
        put: operations["editPost"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/posts/delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a post
         * @description Permanently deletes one of the authenticated user's own posts, with its image and likes.
         */
        delete: operations["deletePost"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/posts/like": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Like a post
         * @description Likes a post that the authenticated user may see. A repeated like succeeds and changes nothing. If the post is later hidden from the user, the like remains and is still counted.
         */
        post: operations["likePost"];
        /**
         * Unlike a post
         * @description Removes the authenticated user's like from a post that they may see. If there is no like, the operation succeeds and changes nothing.
         */
        delete: operations["unlikePost"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/friends": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List friends
         * @description Returns the full profiles of the authenticated user's friends, ordered by id.
         */
        get: operations["listFriends"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/friends/requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List incoming friend requests
         * @description Returns the profiles of the users whose friend requests to the authenticated user are pending, ordered by id. Each profile has the fields that `GET /profiles/{id}` returns: full for a public account, reduced for a private one.
         */
        get: operations["listFriendRequests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/friends/request": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a friend request
         * @description Sends a friend request. It is pending until the recipient accepts or declines it, or the sender cancels it. If the recipient has already sent the authenticated user a request, the operation returns 409. Accept that request instead.
         */
        post: operations["sendFriendRequest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/friends/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept a friend request
         * @description Accepts a pending friend request. The authenticated user and the sender become friends.
         */
        post: operations["acceptFriendRequest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/friends/decline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Decline a friend request
         * @description Declines a pending friend request. The request is removed, and the sender can send another one.
         */
        post: operations["declineFriendRequest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/friends/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a friend request
         * @description Cancels a pending friend request that the authenticated user has sent. The request is removed.
         */
        post: operations["cancelFriendRequest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/friends/remove": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a friend
         * @description Ends a friendship for both users. If one of their accounts is private, its posts and full profile are immediately hidden from the other user.
         */
        delete: operations["removeFriend"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/create_relationship": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a friend request with both user ids
         * @description Sends a friend request, with the same conditions and responses as `POST /friends/request?to=<them>`. `me` must be the authenticated user's own id. Any other id returns 403, even if `them` does not exist. The users become friends only when the recipient accepts the request.
         */
        post: operations["createRelationship"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * Format: int64
         * @description The id of a user or a post.
         * @example 7
         */
        Id: number;
        /**
         * Format: date-time
         * @description A time in RFC 3339 format, in UTC with milliseconds.
         * @example 2026-01-31T12:00:00.000Z
         */
        Timestamp: string;
        /**
         * @description A display name of at most 100 characters, stored verbatim. It must not contain NUL (U+0000) or U+FFFD, and at least one character must be visible.
         * @example Mira Solheim
         */
        DisplayName: string;
        /**
         * @description A username of at most 50 characters, unique under NFKC case folding. It must not contain whitespace, control characters (Cc), format characters (Cf), default ignorable code points (Default_Ignorable_Code_Point) or blank characters such as U+2800. The pattern lists only those of Latin-1.
         * @example ines
         */
        ChosenUsername: string;
        /**
         * @description A username. Older accounts can have usernames that registration no longer accepts.
         * @example mira
         */
        Username: string;
        /**
         * @description An email address of at most 254 characters, trimmed and lowercased before validation. It must be ASCII, contain one `@`, and have a dot in the domain. Quoted local parts, address literals and addresses of disposable email providers are rejected. The pattern allows the whitespace of Latin-1 around the address.
         * @example ines.duarte@example.org
         */
        Email: string;
        /**
         * Format: password
         * @description A new password of 12 to 128 characters, used verbatim, including whitespace. It must
         *
         *     - contain a lowercase letter, an uppercase letter, a digit, and a special character (neither a letter nor a digit)
         *     - not contain the username or the part of the email address before the `@`, regardless of letter case and Unicode form
         *     - not be a common password or a slight variation of one: other digits and symbols at the end, or look-alike characters
         *       (`P4ssword123!`)
         *     - not contain the same character three times in a row
         *     - not contain an obvious sequence in either direction: four consecutive letters of the alphabet, four consecutive digits,
         *       five adjacent keys of a keyboard row, or the first or last four keys of a row (`qwer`, `hjkl`)
         *
         *     Recommended are three groups of six random letters and digits, joined by hyphens, as password generators produce them:
         *     `tuvGo4-qesjyn-bidwap`.
         * @example Copper-Kite_94
         */
        Password: string;
        /**
         * Format: password
         * @description The authenticated user's current password, compared verbatim, including whitespace.
         * @example Teal-Lantern_58
         */
        CurrentPassword: string;
        /**
         * @description The title of a post, at most 200 characters, stored verbatim. It must not contain NUL (U+0000) or U+FFFD, and at least one character must be visible.
         * @example First swim of the year
         */
        PostTitle: string;
        /**
         * @description The text of a post, at most 10,000 characters, stored verbatim. It must not contain NUL (U+0000) or U+FFFD, and at least one character must be visible.
         * @example Four degrees in the water. Worth it.
         */
        PostText: string;
        /** @description The data of a new account. */
        Registration: {
            name: components["schemas"]["DisplayName"];
            username: components["schemas"]["ChosenUsername"];
            email: components["schemas"]["Email"];
            password: components["schemas"]["Password"];
        };
        /** @description The credentials of a login. A malformed email address returns the same 401 as a wrong password. */
        Credentials: {
            /**
             * @description The email address of the account. It is trimmed and lowercased.
             * @example ines.duarte@example.org
             */
            email: string;
            /**
             * Format: password
             * @description The password of the account, compared verbatim, including whitespace.
             * @example Copper-Kite_94
             */
            password: string;
        };
        /** @description The authenticated user's password, which confirms the deletion of the account. */
        PasswordConfirmation: {
            password: components["schemas"]["CurrentPassword"];
        };
        /** @description Changes to the authenticated user's account and profile. Omitted fields remain unchanged. */
        ProfileUpdate: {
            name?: components["schemas"]["DisplayName"];
            username?: components["schemas"]["ChosenUsername"];
            email?: components["schemas"]["Email"];
            password?: components["schemas"]["Password"];
            current_password?: components["schemas"]["CurrentPassword"];
            /** @description Whether only friends may see the posts, the profile picture and the full profile: `true` or `false`, case-insensitive. */
            private?: boolean;
            /**
             * Format: binary
             * @description The new profile picture, a JPEG, PNG, GIF, WebP or AVIF file. The section Images lists the limits.
             */
            image?: Blob;
            /** @description Whether to remove the profile picture: `true` or `false`, case-insensitive. Must not be `true` if the form contains `image`. */
            remove_image?: boolean;
        };
        /** @description A new post. */
        PostForm: {
            title: components["schemas"]["PostTitle"];
            text: components["schemas"]["PostText"];
            /**
             * Format: binary
             * @description The image of the post, a JPEG, PNG, GIF, WebP or AVIF file. The section Images lists the limits.
             */
            image?: Blob;
        };
        /** @description Changes to a post. Omitted fields remain unchanged. */
        PostEdit: {
            title?: components["schemas"]["PostTitle"];
            text?: components["schemas"]["PostText"];
            /**
             * Format: binary
             * @description The new image of the post, a JPEG, PNG, GIF, WebP or AVIF file. The section Images lists the limits.
             */
            image?: Blob;
            /** @description Whether to remove the image of the post: `true` or `false`, case-insensitive. Must not be `true` if the form contains `image`. */
            remove_image?: boolean;
        };
        /** @description The id of the new account. */
        RegisteredAccount: {
            /** @description The id of the new account. */
            id: components["schemas"]["Id"];
        };
        /** @description The id of the user, the token of the new session, and the time when both the token and the session expire. */
        SessionToken: {
            /** @description The id of the user. */
            id: components["schemas"]["Id"];
            /**
             * @description A signed JSON Web Token, to send with all other requests. Treat it as an opaque secret.
             * @example eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI3In0.c2lnbmF0dXJl
             */
            token: string;
            expires_at: components["schemas"]["Timestamp"];
        };
        /** @description The authenticated user's account. */
        Account: {
            /** @description The id of the user. */
            id: components["schemas"]["Id"];
            name: components["schemas"]["DisplayName"];
            username: components["schemas"]["Username"];
            /**
             * @description The email address of the account, in lowercase.
             * @example mira.solheim@example.org
             */
            email: string;
        };
        /** @description A session. `created_at` is the time of the login that started it. */
        Session: {
            /**
             * @description The id of the session, an opaque string.
             * @example 0b6f1c52-8f0e-4a57-9d2b-6c1f3f0f7a10
             */
            id: string;
            /**
             * @description The `User-Agent` of the login, in UTF-8 or Latin-1: trimmed, without control characters, and truncated to 255 characters. `Unknown device` if the header was missing or empty.
             * @example PostingApp/2.3 (Android 16)
             */
            device_name: string;
            created_at: components["schemas"]["Timestamp"];
            /**
             * Format: date-time
             * @description The time when the session was last used, in RFC 3339 format, in UTC with milliseconds. It can lag by up to a minute.
             * @example 2026-01-31T18:40:12.345Z
             */
            last_used_at: string;
            /** @description Whether the request uses this session. */
            current: boolean;
        };
        /** @description A full profile, or a reduced one with only `id`, `name` and `username`. `profile_link` and `private` are either both present or both absent. */
        Profile: {
            /** @description The id of the user. */
            id: components["schemas"]["Id"];
            name: components["schemas"]["DisplayName"];
            username: components["schemas"]["Username"];
            /**
             * @description The path of the profile picture, relative to the base URL. Its download requires authentication. Null if there is no picture.
             * @example /profiles/image/d47b90e6c35f4e18b02a9f6c8e71d5a3.png
             */
            profile_link?: string | null;
            /** @description Whether only friends may see the posts, the profile picture and the full profile. */
            private?: boolean;
        };
        /** @description A profile with all its fields. */
        FullProfile: {
            /** @description The id of the user. */
            id: components["schemas"]["Id"];
            name: components["schemas"]["DisplayName"];
            username: components["schemas"]["Username"];
            /**
             * @description The path of the profile picture, relative to the base URL. Its download requires authentication. Null if there is no picture.
             * @example /profiles/image/d47b90e6c35f4e18b02a9f6c8e71d5a3.png
             */
            profile_link: string | null;
            /** @description Whether only friends may see the posts, the profile picture and the full profile. */
            private: boolean;
        };
        /** @description A post. `created_at` is the time when it was created. */
        Post: {
            /** @description The id of the post. */
            id: components["schemas"]["Id"];
            title: components["schemas"]["PostTitle"];
            text: components["schemas"]["PostText"];
            /**
             * @description The path of the image, relative to the base URL. Its download requires authentication. Null if the post has no image.
             * @example /posts/image/3f9c1d7ae05b4286b1c4d2e97a60f385.png
             */
            image: string | null;
            /** @description The id of the user who created the post. */
            author_id: components["schemas"]["Id"];
            /**
             * @description The username of the author. Null if the author's account no longer exists.
             * @example mira
             */
            author_username: string | null;
            created_at: components["schemas"]["Timestamp"];
            /**
             * Format: int64
             * @description The number of users who like the post.
             * @example 1
             */
            like_count: number;
            /** @description Whether the authenticated user likes the post. */
            liked_by_me: boolean;
        };
        /** @description A post, with the reserved property `comments`. */
        PostDetail: components["schemas"]["Post"] & {
            /** @description Reserved. Always empty. */
            comments: Record<string, never>[];
        };
        /** @description The result of an action. */
        Message: {
            /**
             * @description An English sentence that describes the result.
             * @example You like the post.
             */
            message: string;
        };
        /** @description The reason why a request failed. */
        ApiError: {
            /**
             * @description Identifies the error, such as `invalid_token` or `not_found`. The section Errors lists all codes. New codes may be added: treat an unknown code according to the status.
             * @example invalid_request
             */
            code: string;
            /**
             * @description An English sentence that describes the error.
             * @example The request is not valid.
             */
            message: string;
            /** @description The problems of the request's fields, up to 100. Present only in a 400 that concerns fields. */
            errors?: components["schemas"]["FieldProblem"][];
        };
        /** @description A problem with one field of the request. */
        FieldProblem: {
            /**
             * @description The part of the request that contains the field.
             * @example body
             * @enum {string}
             */
            in: "body" | "query" | "path" | "header";
            /**
             * @description The name of the field. Empty if the problem concerns the whole body or path.
             * @example username
             */
            field: string;
            /**
             * @description Identifies the problem, such as `required` or `too_long`. The section Errors lists all codes. New codes may be added.
             * @example required
             */
            code: string;
            /**
             * @description Describes the problem in English. It continues a sentence that starts with the name of the field.
             * @example is required
             */
            message: string;
        };
    };
    responses: {
        /** @description The image, with the media type that its signature determines. The section Images describes which metadata is removed at upload. */
        StoredImage: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                ETag: components["headers"]["ETag"];
                "Cache-Control": components["headers"]["CacheControl"];
                "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                "Cross-Origin-Resource-Policy": components["headers"]["ResourcePolicy"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                [name: string]: unknown;
            };
            content: {
                /** @example (the bytes of a JPEG file) */
                "image/jpeg": Blob;
                /** @example (the bytes of a PNG file) */
                "image/png": Blob;
                /** @example (the bytes of a GIF file) */
                "image/gif": Blob;
                /** @example (the bytes of a WebP file) */
                "image/webp": Blob;
                /** @example (the bytes of an AVIF file) */
                "image/avif": Blob;
            };
        };
        /** @description The cached copy is still valid, and the image is still visible. */
        NotModified: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                ETag: components["headers"]["ETag"];
                "Cache-Control": components["headers"]["CacheControl"];
                "Cross-Origin-Resource-Policy": components["headers"]["ResourcePolicy"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description The request contains an undocumented query parameter or body. */
        UnexpectedInput: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The request contains an undocumented query parameter or body, or the current session cannot be identified. */
        UnidentifiedSession: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The body is missing or is not a JSON object, or a field is missing, invalid or undocumented. */
        InvalidRegistration: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The body is missing or is not a JSON object; `email` or `password` is missing, is not a string, or contains NUL or an unpaired surrogate; `password` is too long; or a field is undocumented. A malformed email address returns 401. */
        InvalidLogin: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The body is missing or is not a JSON object; `password` is missing or invalid; or a field is undocumented. */
        InvalidPasswordConfirmation: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The form is missing, is malformed or changes nothing; a field is invalid, repeated or undocumented; or the image does not meet the requirements of the section Images. */
        InvalidProfileUpdate: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The form is missing or malformed; a field is missing, invalid, repeated or undocumented; the `Idempotency-Key` is invalid; or the image does not meet the requirements of the section Images. */
        InvalidPost: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The id is missing or invalid; the form is missing, is malformed or changes nothing; a field is invalid, repeated or undocumented; or the image does not meet the requirements of the section Images. */
        InvalidPostEdit: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description `limit`, `offset` or `cursor` is invalid, `offset` and `cursor` are sent together, or the request contains an undocumented query parameter or body. */
        InvalidPage: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The id is missing or invalid, or the request contains an undocumented query parameter or body. */
        InvalidPostId: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The id is missing, invalid or the authenticated user's own, or the request contains an undocumented query parameter or body. */
        InvalidTarget: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The id is missing or invalid, or the request contains an undocumented query parameter or body. */
        InvalidRecipient: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The id is missing or invalid, or the request contains an undocumented query parameter or body. */
        InvalidSender: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The id is missing or invalid, or the request contains an undocumented query parameter or body. */
        InvalidFriend: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description An id is missing or invalid, `them` is the authenticated user's own id, or the request contains an undocumented query parameter or body. */
        InvalidRelationship: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The credentials are missing, malformed, expired or revoked. */
        Unauthorized: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The email address or the password is wrong. The response does not state which. */
        LoginFailed: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The password is wrong (the `message` is `Invalid password`), or the credentials are missing, malformed, expired or revoked. */
        WrongPassword: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The request has no `Authorization` header, and comes from a page of an origin that the operator has not allowed. */
        CrossSite: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description Only the operator of this service creates accounts, or the request has no `Authorization` header and comes from a page of an origin that the operator has not allowed. */
        RegistrationRefused: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description `me` is not the authenticated user's own id, or the request has no `Authorization` header and comes from a page of an origin that the operator has not allowed. */
        UserMismatch: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The authenticated user has no session with this id. */
        SessionNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description There is no user with this id. */
        ProfileNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The post does not exist or is hidden from the authenticated user. The response does not state which. */
        PostNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The post does not exist, is hidden from the authenticated user, or belongs to another user. The response does not state which. */
        OwnPostNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The image does not exist or is hidden from the authenticated user. The response does not state which. */
        ImageNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description There is no user with this id. */
        UserNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description There is no pending friend request from this user, or, for `POST /friends/cancel`, to this user. */
        FriendRequestNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The users are not friends. */
        FriendNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The username or the email address is already in use. */
        AccountTaken: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The users are already friends, or a request between them is pending. */
        FriendshipConflict: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A request with the same `Idempotency-Key` is still in progress. Retry after a few seconds. */
        IdempotencyKeyInProgress: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The `Idempotency-Key` was used with a different form in the last 24 hours. Send a new key with each new post. */
        IdempotencyKeyReused: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The body is larger than 64 KiB. */
        JsonTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The body is not `application/json`, or has a `Content-Encoding` other than `identity`. */
        JsonExpected: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The image is larger than the limit (`file_too_large`, whatever the size of the form), the form is more than 256 KiB larger than that limit, or the image would exceed the account's storage quota. Nothing is stored. */
        FormTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The body is not `multipart/form-data`, or has a `Content-Encoding` other than `identity`. */
        FormExpected: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The rate limit is exceeded. */
        TooManyRequests: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The rate limit is exceeded, or too many wrong passwords were sent for the account. */
        TooManyRequestsOrPasswords: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description An internal server error. */
        ServiceFault: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A data store is unavailable, or the service is overloaded or shutting down. The section Retries describes which requests are safe to retry. */
        Unavailable: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
    };
    parameters: {
        /**
         * @description The id of the session. Any value that is not the id of one of the authenticated user's sessions returns 404.
         * @example 5d0c7e8a-2f43-4b9e-8a66-1e9d7b3c4f21
         */
        SessionIdInPath: string;
        /**
         * @description The id of the user. Any value that is not a user's id returns 404.
         * @example 12
         */
        ProfileIdInPath: components["schemas"]["Id"];
        /**
         * @description The id of the post. Any value that is not the id of a visible post returns 404.
         * @example 43
         */
        PostIdInPath: components["schemas"]["Id"];
        /**
         * @description The file name of the image, from `image` of a post. Any value that is not the name of a visible image returns 404.
         * @example 3f9c1d7ae05b4286b1c4d2e97a60f385.png
         */
        PostImageInPath: string;
        /**
         * @description The file name of the picture, from `profile_link` of a profile. Any value that is not the name of a visible picture returns 404.
         * @example d47b90e6c35f4e18b02a9f6c8e71d5a3.png
         */
        ProfilePictureInPath: string;
        /**
         * @description The id of the post.
         * @example 42
         */
        PostIdInQuery: components["schemas"]["Id"];
        /**
         * @description The id of the friend.
         * @example 12
         */
        FriendInQuery: components["schemas"]["Id"];
        /**
         * @description The id of the recipient.
         * @example 8
         */
        ToUser: components["schemas"]["Id"];
        /**
         * @description The id of the sender.
         * @example 9
         */
        FromUser: components["schemas"]["Id"];
        /**
         * @description The id of the authenticated user.
         * @example 7
         */
        Me: components["schemas"]["Id"];
        /**
         * @description The id of the recipient.
         * @example 10
         */
        Them: components["schemas"]["Id"];
        /**
         * @description The maximum number of posts in a page.
         * @example 20
         */
        Limit: number;
        /** @description The number of posts to skip, starting with the newest; 0 if absent. Pages with an `offset` of 1000 or more are expensive: to read a whole list, follow `Link` instead. The service reads such pages one at a time, and returns 503 if a request has to wait too long. */
        Offset: number;
        /** @description The position after which the page starts, from the header `Link` of another page. Not allowed together with `offset`. */
        Cursor: string;
        /**
         * @description The `ETag` of a cached copy. If the copy is still valid, the response is 304 without the bytes.
         * @example "3f9c1d7ae05b4286b1c4d2e97a60f385.png"
         */
        IfNoneMatch: string;
        /** @description Makes the request safe to retry. Send a new random value, such as a UUID, for each new post, and the same value with each retry. Values are compared exactly, including quotation marks. Keys belong to the account and are kept for 24 hours. */
        IdempotencyKey: string;
    };
    requestBodies: never;
    headers: {
        /**
         * @description The id of the request in the logs of the service.
         * @example 9b2d6c1e-54a7-4f3b-8f0d-2a7e6c9d1b35
         */
        RequestId: string;
        /**
         * @description The number of requests that the rate limit allows in a window.
         * @example 300
         */
        RateLimitLimit: number;
        /**
         * @description The number of requests left in the window.
         * @example 287
         */
        RateLimitRemaining: number;
        /**
         * @description The number of seconds until the window ends.
         * @example 642
         */
        RateLimitReset: number;
        /**
         * @description The name of the limit, the number of requests left in the window (`r`), and the seconds until the window ends (`t`). An RFC 9651 list with one item.
         * @example "general";r=287;t=642
         */
        RateLimit: string;
        /**
         * @description The name of the limit, the number of requests that it allows in a window (`q`), and the length of the window in seconds (`w`). An RFC 9651 list with one item.
         * @example "general";q=300;w=900
         */
        RateLimitPolicy: string;
        /**
         * @description The path of the new account's profile, relative to the base URL.
         * @example /profiles/13
         */
        ProfileLocation: string;
        /**
         * @description The path of the new post, relative to the base URL.
         * @example /posts/42
         */
        PostLocation: string;
        /**
         * @description The number of seconds to wait before a retry.
         * @example 5
         */
        RetryAfter: number;
        /**
         * @description The authentication scheme (RFC 6750). It contains `error="invalid_token"` if a token was sent and rejected, but not if a password is wrong.
         * @example Bearer error="invalid_token"
         */
        WwwAuthenticate: string;
        /**
         * @description Sets the cookie `fc_session_token` to the token. It expires with the token, and is `Secure` if the service is reached over https.
         * @example fc_session_token=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI3In0.c2lnbmF0dXJl; Path=/; Expires=Sat, 07 Feb 2026 09:12:00 GMT; HttpOnly; SameSite=Lax
         */
        SessionCookie: string;
        /**
         * @description Removes the cookie `fc_session_token`. Present only if the request ended the current session.
         * @example fc_session_token=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax
         */
        ClearedCookie: string;
        /**
         * @description The URL of the next page, as `rel="next"` (RFC 8288). Absent on the last page.
         * @example </posts?limit=2&cursor=MjAyNi0wMS0zMVQwOTozMDowNS4xMThaIDQy>; rel="next"
         */
        Link: string;
        /**
         * @description A strong validator of the image.
         * @example "3f9c1d7ae05b4286b1c4d2e97a60f385.png"
         */
        ETag: string;
        /**
         * @description Only private caches may store the image, and they must revalidate it before each use.
         * @example private, no-cache
         */
        CacheControl: "private, no-cache";
        /**
         * @description Prevents browsers from executing the image as a document.
         * @example default-src 'none'; sandbox
         */
        ContentSecurityPolicy: string;
        /**
         * @description Allows pages of the same site to embed the image. It is `cross-origin` if the operator has allowed the request's `Origin`, so that pages of that origin can embed it too.
         * @example same-site
         */
        ResourcePolicy: "same-site" | "cross-origin";
        /**
         * @description Prevents browsers from guessing a type other than `Content-Type`.
         * @example nosniff
         */
        ContentTypeOptions: "nosniff";
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    register: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The name, username, email address and password of the new account. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["Registration"];
            };
        };
        responses: {
            /** @description The account was created. */
            201: {
                headers: {
                    Location: components["headers"]["ProfileLocation"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RegisteredAccount"];
                };
            };
            400: components["responses"]["InvalidRegistration"];
            403: components["responses"]["RegistrationRefused"];
            409: components["responses"]["AccountTaken"];
            413: components["responses"]["JsonTooLarge"];
            415: components["responses"]["JsonExpected"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServiceFault"];
            503: components["responses"]["Unavailable"];
        };
    };
    login: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The email address and password of the account. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["Credentials"];
            };
        };
        responses: {
            /** @description The session was started. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Set-Cookie": components["headers"]["SessionCookie"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionToken"];
                };
            };
            400: components["responses"]["InvalidLogin"];
            401: components["responses"]["LoginFailed"];
            403: components["responses"]["CrossSite"];
            413: components["responses"]["JsonTooLarge"];
            415: components["responses"]["JsonExpected"];
            429: components["responses"]["TooManyRequestsOrPasswords"];
            500: components["responses"]["ServiceFault"];
            503: components["responses"]["Unavailable"];
        };
    };
    getCurrentAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The account. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
            400: components["responses"]["UnexpectedInput"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServiceFault"];
            503: components["responses"]["Unavailable"];
        };
    };
    verifySession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session is valid. The body is the authenticated user's account. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
            400: components["responses"]["UnexpectedInput"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServiceFault"];
            503: components["responses"]["Unavailable"];
        };
    };
    logout: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session was ended. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Set-Cookie": components["headers"]["ClearedCookie"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
            400: components["responses"]["UnexpectedInput"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["CrossSite"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServiceFault"];
            503: components["responses"]["Unavailable"];
        };
    };
    listSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sessions. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"][];
                };
            };
            400: components["responses"]["UnexpectedInput"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServiceFault"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteOtherSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The other sessions were ended. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
            400: components["responses"]["UnidentifiedSession"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["CrossSite"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServiceFault"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the session. Any value that is not the id of one of the authenticated user's sessions returns 404.
                 * @example 5d0c7e8a-2f43-4b9e-8a66-1e9d7b3c4f21
                 */
                id: components["parameters"]["SessionIdInPath"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session was ended. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Set-Cookie": components["headers"]["ClearedCookie"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
            400: components["responses"]["UnexpectedInput"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["CrossSite"];
            404: components["responses"]["SessionNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServiceFault"];
            503: components["responses"]["Unavailable"];
        };
    };
    getOwnProfile: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The profile. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FullProfile"];
                };
            };
            400: components["responses"]["UnexpectedInput"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServiceFault"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateProfile: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The fields to change. */
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["ProfileUpdate"];
            };
        };
        responses: {
            /** @description The updated profile. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Set-Cookie": components["headers"]["ClearedCookie"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FullProfile"];
                };
            };
            400: components["responses"]["InvalidProfileUpdate"];
            401: components["responses"]["WrongPassword"];
            403: components["responses"]["CrossSite"];
            409: components["responses"]["AccountTaken"];
            413: components["responses"]["FormTooLarge"];
            415: components["responses"]["FormExpected"];
            429: components["responses"]["TooManyRequestsOrPasswords"];
            500: components["responses"]["ServiceFault"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The current password, as confirmation. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordConfirmation"];
            };
        };
        responses: {
            /** @description The account was deleted. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Set-Cookie": components["headers"]["ClearedCookie"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
            400: components["responses"]["InvalidPasswordConfirmation"];
            401: components["responses"]["WrongPassword"];
            403: components["responses"]["CrossSite"];
            413: components["responses"]["JsonTooLarge"];
            415: components["responses"]["JsonExpected"];
            429: components["responses"]["TooManyRequestsOrPasswords"];
            500: components["responses"]["ServiceFault"];
            503: components["responses"]["Unavailable"];
        };
    };
    getProfile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the user. Any value that is not a user's id returns 404.
                 * @example 12
                 */
                id: components["parameters"]["ProfileIdInPath"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The full or reduced profile. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Profile"];
                };
            };
            400: components["responses"]["UnexpectedInput"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["ProfileNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServiceFault"];
            503: components["responses"]["Unavailable"];
        };
    };
    getProfileImage: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of a cached copy. If the copy is still valid, the response is 304 without the bytes.
                 * @example "3f9c1d7ae05b4286b1c4d2e97a60f385.png"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description The file name of the picture, from `profile_link` of a profile. Any value that is not the name of a visible picture returns 404.
                 * @example d47b90e6c35f4e18b02a9f6c8e71d5a3.png
                 */
                filename: components["parameters"]["ProfilePictureInPath"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["StoredImage"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["UnexpectedInput"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["ImageNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServiceFault"];
            503: components["responses"]["Unavailable"];
        };
    };
    listPosts: {
        parameters: {
            query?: {
                /**
                 * @description The maximum number of posts in a page.
                 * @example 20
                 */
                limit?: components["parameters"]["Limit"];
                /** @description The number of posts to skip, starting with the newest; 0 if absent. Pages with an `offset` of 1000 or more are expensive: to read a whole list, follow `Link` instead. The service reads such pages one at a time, and returns 503 if a request has to wait too long. */
                offset?: components["parameters"]["Offset"];
                /** @description The position after which the page starts, from the header `Link` of another page. Not allowed together with `offset`. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the feed. Beyond the end of the feed it is empty. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Post"][];
                };
            };
            400: components["responses"]["InvalidPage"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServiceFault"];
            503: components["responses"]["Unavailable"];
        };
    };
    listOwnPosts: {
        parameters: {
            query?: {
                /**
                 * @description The maximum number of posts in a page.
                 * @example 20
                 */
                limit?: components["parameters"]["Limit"];
                /** @description The number of posts to skip, starting with the newest; 0 if absent. Pages with an `offset` of 1000 or more are expensive: to read a whole list, follow `Link` instead. The service reads such pages one at a time, and returns 503 if a request has to wait too long. */
                offset?: components["parameters"]["Offset"];
                /** @description The position after which the page starts, from the header `Link` of another page. Not allowed together with `offset`. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the posts. Beyond the last post it is empty. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Post"][];
                };
            };
            400: components["responses"]["InvalidPage"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServiceFault"];
            503: components["responses"]["Unavailable"];
        };
    };
    getPost: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the post. Any value that is not the id of a visible post returns 404.
                 * @example 43
                 */
                id: components["parameters"]["PostIdInPath"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The post. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PostDetail"];
                };
            };
            400: components["responses"]["UnexpectedInput"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["PostNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServiceFault"];
            503: components["responses"]["Unavailable"];
        };
    };
    getPostImage: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of a cached copy. If the copy is still valid, the response is 304 without the bytes.
                 * @example "3f9c1d7ae05b4286b1c4d2e97a60f385.png"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description The file name of the image, from `image` of a post. Any value that is not the name of a visible image returns 404.
                 * @example 3f9c1d7ae05b4286b1c4d2e97a60f385.png
                 */
                filename: components["parameters"]["PostImageInPath"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["StoredImage"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["UnexpectedInput"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["ImageNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServiceFault"];
            503: components["responses"]["Unavailable"];
        };
    };
    createPost: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry. Send a new random value, such as a UUID, for each new post, and the same value with each retry. Values are compared exactly, including quotation marks. Keys belong to the account and are kept for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The title, text and optional image of the post. */
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["PostForm"];
            };
        };
        responses: {
            /** @description The post as it was created. A retry with the same `Idempotency-Key` returns the same response, even if the post has been edited or deleted since. */
            201: {
                headers: {
                    Location: components["headers"]["PostLocation"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Post"];
                };
            };
            400: components["responses"]["InvalidPost"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["CrossSite"];
            409: components["responses"]["IdempotencyKeyInProgress"];
            413: components["responses"]["FormTooLarge"];
            415: components["responses"]["FormExpected"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServiceFault"];
            503: components["responses"]["Unavailable"];
        };
    };
    editPost: {
        parameters: {
            query: {
                /**
                 * @description The id of the post.
                 * @example 42
                 */
                id: components["parameters"]["PostIdInQuery"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The fields to change. */
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["PostEdit"];
            };
        };
        responses: {
            /** @description The updated post. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Post"];
                };
            };
            400: components["responses"]["InvalidPostEdit"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["CrossSite"];
            404: components["responses"]["OwnPostNotFound"];
            413: components["responses"]["FormTooLarge"];
            415: components["responses"]["FormExpected"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServiceFault"];
            503: components["responses"]["Unavailable"];
        };
    };
    deletePost: {
        parameters: {
            query: {
                /**
                 * @description The id of the post.
                 * @example 42
                 */
                id: components["parameters"]["PostIdInQuery"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The post was deleted. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
            400: components["responses"]["InvalidPostId"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["CrossSite"];
            404: components["responses"]["OwnPostNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServiceFault"];
            503: components["responses"]["Unavailable"];
        };
    };
    likePost: {
        parameters: {
            query: {
                /**
                 * @description The id of the post.
                 * @example 42
                 */
                id: components["parameters"]["PostIdInQuery"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The user likes the post. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
            400: components["responses"]["InvalidPostId"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["CrossSite"];
            404: components["responses"]["PostNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServiceFault"];
            503: components["responses"]["Unavailable"];
        };
    };
    unlikePost: {
        parameters: {
            query: {
                /**
                 * @description The id of the post.
                 * @example 42
                 */
                id: components["parameters"]["PostIdInQuery"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The user does not like the post. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
            400: components["responses"]["InvalidPostId"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["CrossSite"];
            404: components["responses"]["PostNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServiceFault"];
            503: components["responses"]["Unavailable"];
        };
    };
    listFriends: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The friends. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FullProfile"][];
                };
            };
            400: components["responses"]["UnexpectedInput"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServiceFault"];
            503: components["responses"]["Unavailable"];
        };
    };
    listFriendRequests: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The users who sent a request. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Profile"][];
                };
            };
            400: components["responses"]["UnexpectedInput"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServiceFault"];
            503: components["responses"]["Unavailable"];
        };
    };
    sendFriendRequest: {
        parameters: {
            query: {
                /**
                 * @description The id of the recipient.
                 * @example 8
                 */
                to: components["parameters"]["ToUser"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The friend request was sent. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
            400: components["responses"]["InvalidTarget"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["CrossSite"];
            404: components["responses"]["UserNotFound"];
            409: components["responses"]["FriendshipConflict"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServiceFault"];
            503: components["responses"]["Unavailable"];
        };
    };
    acceptFriendRequest: {
        parameters: {
            query: {
                /**
                 * @description The id of the sender.
                 * @example 9
                 */
                from: components["parameters"]["FromUser"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The users are friends. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
            400: components["responses"]["InvalidSender"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["CrossSite"];
            404: components["responses"]["FriendRequestNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServiceFault"];
            503: components["responses"]["Unavailable"];
        };
    };
    declineFriendRequest: {
        parameters: {
            query: {
                /**
                 * @description The id of the sender.
                 * @example 9
                 */
                from: components["parameters"]["FromUser"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The friend request was removed. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
            400: components["responses"]["InvalidSender"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["CrossSite"];
            404: components["responses"]["FriendRequestNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServiceFault"];
            503: components["responses"]["Unavailable"];
        };
    };
    cancelFriendRequest: {
        parameters: {
            query: {
                /**
                 * @description The id of the recipient.
                 * @example 8
                 */
                to: components["parameters"]["ToUser"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The friend request was removed. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
            400: components["responses"]["InvalidRecipient"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["CrossSite"];
            404: components["responses"]["FriendRequestNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServiceFault"];
            503: components["responses"]["Unavailable"];
        };
    };
    removeFriend: {
        parameters: {
            query: {
                /**
                 * @description The id of the friend.
                 * @example 12
                 */
                id: components["parameters"]["FriendInQuery"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The users are no longer friends. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
            400: components["responses"]["InvalidFriend"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["CrossSite"];
            404: components["responses"]["FriendNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServiceFault"];
            503: components["responses"]["Unavailable"];
        };
    };
    createRelationship: {
        parameters: {
            query: {
                /**
                 * @description The id of the authenticated user.
                 * @example 7
                 */
                me: components["parameters"]["Me"];
                /**
                 * @description The id of the recipient.
                 * @example 10
                 */
                them: components["parameters"]["Them"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The friend request was sent. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
            400: components["responses"]["InvalidRelationship"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UserMismatch"];
            404: components["responses"]["UserNotFound"];
            409: components["responses"]["FriendshipConflict"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServiceFault"];
            503: components["responses"]["Unavailable"];
        };
    };
}

export type OperationId = keyof operations;

/** The operations that need no credentials. */
export type UnsecuredOperationId = 'register' | 'login';
