// Generated from openapi.yaml by `npm run generate`. Do not edit.

export interface Upload {
    path: string;
    size: number;
    mediaType: string;
}
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
         * Make an account
         * @description Makes a public account. It is not logged in by this: that is what login is for. Usernames are compared without regard to case and Unicode form (NFKC case folding), email addresses as trimmed and lower-cased.
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
         * Start a session
         * @description Starts a session and answers the token that stands for it, also as the cookie `fc_session_token`. The session is listed under the request's `User-Agent`. An unknown address, an ill-formed one and a wrong password are the same 401, after the same time. An account has at most 100 sessions unless the operator has chosen otherwise: a login beyond that ends the least recently used one.
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
         * Show the caller's account
         * @description Answers whose credentials these are. Here and at `GET /auth/verify` alone is the email address shown.
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
         * Check that the session is alive
         * @description Answers the caller's account as long as the session lives, and 401 from then on.
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
         * End the current session
         * @description Deletes the current session, so that its token works no more, and clears the cookie.
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
         * List the caller's sessions
         * @description All sessions of the caller that have not expired, the one used last first.
         */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        /**
         * End all other sessions
         * @description Deletes every session of the caller except the one that asks, so that their tokens work no more.
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
         * End one session
         * @description Deletes one of the caller's sessions, so that its token works no more. Ending the session that asks also clears the cookie.
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
         * Show the caller's profile
         * @description The caller's full profile, as friends see it.
         */
        get: operations["getOwnProfile"];
        /**
         * Change the caller's profile
         * @description Changes what the form names and leaves the rest as it is. At least one change is required: a form with nothing but `current_password` or `remove_image=false` is 400, while setting a field to the value it has counts as a change.
         *
         *     A new `password` needs `current_password` beside it and must meet the password policy with the username and email that result from this request. It ends all of the caller's sessions, the current one too, and clears the cookie. `current_password` is checked whenever it is sent.
         *
         *     `image` replaces the profile picture, `remove_image=true` removes it; both at once are 400.
         */
        put: operations["updateProfile"];
        post?: never;
        /**
         * Delete the caller's account
         * @description Deletes the account with everything that belongs to it: posts and their images, the profile picture, likes, friendships, requests and sessions. It clears the cookie. There is no way back.
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
         * Show somebody's profile
         * @description The full profile of a public account, a friend's, or the caller's own. Of any other private account `id`, `name` and `username` are shown and nothing more.
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
         * @description The bytes of a profile picture, to whoever sees the full profile that it belongs to.
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
         * Read the feed
         * @description The posts that the caller may see, their own included: by `created_at`, then `id`, the newest first. While there is more, `Link` leads to the next page.
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
         * List the caller's posts
         * @description The caller's own posts and nobody else's, whether the account is private or not, in the order and with the pages of the feed.
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
         * Read one post
         * @description A post that the caller may see, with the place reserved for its comments.
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
         * @description The bytes of a post's image, to whoever sees the post.
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
         * Write a post
         * @description Publishes a post of the caller's. Its author is always the caller; `author_id` is not a field of the form. With an `Idempotency-Key` the request can be retried without publishing the post twice.
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
         * Change one of the caller's posts
         * @description Changes what the form names and leaves the rest as it is. At least one change is required: a form with nothing but `remove_image=false` is 400, while setting a field to the value it has counts as a change. `image` replaces the post's image, `remove_image=true` removes it; both at once are 400.
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
         * Delete one of the caller's posts
         * @description Deletes the post with its image and its likes. There is no way back.
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
         * @description Likes a post that the caller may see. Liking it again changes nothing and succeeds. A like stays, and counts, when the post becomes hidden from the caller.
         */
        post: operations["likePost"];
        /**
         * Take back a like
         * @description Takes back the caller's like of a post that the caller may see. Where there is none it changes nothing and succeeds.
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
         * List the caller's friends
         * @description The full profiles of the caller's friends, by id.
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
         * @description The people who have asked for the caller's friendship and wait for an answer, by id. Each is shown as `GET /profiles/{id}` would show them: in full if public, by `id`, `name` and `username` if private.
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
         * Ask for somebody's friendship
         * @description Sends a friend request, which waits until the other accepts or declines it, or the caller cancels it. If the other has already asked the caller, accept that request instead: this one is 409.
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
         * @description Makes the caller and the person who asked friends of each other.
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
         * @description Removes the request. The person who asked may ask again.
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
         * Cancel a friend request of one's own
         * @description Removes a request that the caller has sent and that is not answered yet.
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
         * End a friendship
         * @description Ends the friendship for both. At once, what either keeps private is hidden from the other again.
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
         * Ask for somebody's friendship, naming both
         * @description Does what `POST /friends/request?to=<them>` does, under the same conditions. `me` must be the authenticated user's own id: with any other id the response is 403, whatever `them` is. It makes no two people friends without the other's consent.
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
         * @description Identifies a user or a post.
         * @example 7
         */
        Id: number;
        /**
         * Format: date-time
         * @description RFC 3339, in UTC, with milliseconds.
         * @example 2026-01-31T12:00:00.000Z
         */
        Timestamp: string;
        /**
         * @description What somebody wants to be called. Kept as it was sent; not blank, without NUL.
         * @example Mira Solheim
         */
        DisplayName: string;
        /**
         * @description The name that an account is to be known by, unique under NFKC case folding. It must not contain white space, control characters (Cc), format characters (Cf), code points that are ignored by default (Default_Ignorable_Code_Point) or letters that are blank, such as U+2800. The pattern lists those of the Basic Multilingual Plane; those beyond it, such as U+E0001, are refused as well.
         * @example mira
         */
        ChosenUsername: string;
        /**
         * @description The name that an account is known by. Accounts from before version 1.1 may have names that can no longer be chosen.
         * @example mira
         */
        Username: string;
        /**
         * @description An email address, trimmed and lower-cased before it is judged. ASCII, one `@`, a domain with a dot; no quoted local part and no address literal. Addresses of disposable domains are refused.
         * @example mira.solheim@example.org
         */
        Email: string;
        /**
         * Format: password
         * @description A password to be set, taken as it is sent, white space included. It must
         *
         *     - contain a lowercase letter, an uppercase letter, a digit, and a special character, which is anything that is
         *       neither a letter nor a digit;
         *     - not contain the username or the part of the email address before the `@`, without regard to case and Unicode
         *       form;
         *     - not be a common password, nor one with other digits and signs at its end or look-alikes for letters
         *       (`P4ssword123!`);
         *     - not contain one character three times running;
         *     - not contain an obvious sequence, in either direction: four letters of the alphabet or four digits in order,
         *       five neighbours of a keyboard row, or a row's first or last four (`qwer`, `hjkl`).
         * @example Teal-Lantern_58
         */
        Password: string;
        /**
         * Format: password
         * @description The caller's password as it is now, taken as it is sent, white space included.
         * @example Teal-Lantern_58
         */
        CurrentPassword: string;
        /**
         * @description A post's title. Kept as it was sent; not blank, without NUL.
         * @example First swim of the year
         */
        PostTitle: string;
        /**
         * @description A post's text. Kept as it was sent; not blank, without NUL.
         * @example Four degrees in the water. Worth it.
         */
        PostText: string;
        /** @description Who registers. */
        Registration: {
            name: components["schemas"]["DisplayName"];
            username: components["schemas"]["ChosenUsername"];
            email: components["schemas"]["Email"];
            password: components["schemas"]["Password"];
        };
        /** @description Who logs in. Only the shape is checked; an address that is none is refused like a wrong password. */
        Credentials: {
            /**
             * @description The account's email address. It is trimmed and lower-cased.
             * @example mira.solheim@example.org
             */
            email: string;
            /**
             * Format: password
             * @description The account's password, taken as it is sent, white space included.
             * @example Teal-Lantern_58
             */
            password: string;
        };
        /** @description The caller's password, to confirm what cannot be undone. */
        PasswordConfirmation: {
            password: components["schemas"]["CurrentPassword"];
        };
        /** @description What to change of the caller's account and profile. Fields that are left out stay as they are. */
        ProfileUpdate: {
            name?: components["schemas"]["DisplayName"];
            username?: components["schemas"]["ChosenUsername"];
            email?: components["schemas"]["Email"];
            password?: components["schemas"]["Password"];
            current_password?: components["schemas"]["CurrentPassword"];
            /** @description Whether posts, pictures and full profile are for friends alone; `true` or `false`, in any case of letters. */
            private?: boolean;
            /**
             * Format: binary
             * @description The new profile picture, as a file.
             */
            image?: Upload;
            /** @description Whether to remove the profile picture; `true` or `false`, in any case of letters. Not `true` together with `image`. */
            remove_image?: boolean;
        };
        /** @description A post to be published. */
        PostForm: {
            title: components["schemas"]["PostTitle"];
            text: components["schemas"]["PostText"];
            /**
             * Format: binary
             * @description The post's image, as a file.
             */
            image?: Upload;
        };
        /** @description What to change of a post. Fields that are left out stay as they are. */
        PostEdit: {
            title?: components["schemas"]["PostTitle"];
            text?: components["schemas"]["PostText"];
            /**
             * Format: binary
             * @description The post's new image, as a file.
             */
            image?: Upload;
            /** @description Whether to remove the post's image; `true` or `false`, in any case of letters. Not `true` together with `image`. */
            remove_image?: boolean;
        };
        /** @description The account that a registration has made. */
        RegisteredAccount: {
            id: components["schemas"]["Id"];
        };
        /** @description A session's token, and whose it is. */
        SessionToken: {
            id: components["schemas"]["Id"];
            /**
             * @description A signed JSON Web Token, to be sent with every other request. Treat it as opaque, and as a secret.
             * @example eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI3In0.c2lnbmF0dXJl
             */
            token: string;
            expires_at: components["schemas"]["Timestamp"];
        };
        /** @description The caller's own account. */
        Account: {
            id: components["schemas"]["Id"];
            name: components["schemas"]["DisplayName"];
            username: components["schemas"]["Username"];
            /**
             * @description The account's email address, in lower case. No other operation shows it.
             * @example mira.solheim@example.org
             */
            email: string;
        };
        /** @description One login of the caller's. */
        Session: {
            /**
             * @description Identifies the session. Opaque.
             * @example 0b6f1c52-8f0e-4a57-9d2b-6c1f3f0f7a10
             */
            id: string;
            /**
             * @description The `User-Agent` of the login, trimmed, without control characters and cut to 255 characters; `Unknown device` when there was none.
             * @example PostingApp/2.3 (Android 16)
             */
            device_name: string;
            created_at: components["schemas"]["Timestamp"];
            /**
             * Format: date-time
             * @description When the session was last used. It may lag by up to a minute. RFC 3339, in UTC, with milliseconds.
             * @example 2026-01-31T18:40:12.345Z
             */
            last_used_at: string;
            /** @description Whether this is the session that asks. */
            current: boolean;
        };
        /** @description A profile as far as the caller may see it: in full, or `id`, `name` and `username` alone. `profile_link` and `private` come together or not at all. */
        Profile: {
            id: components["schemas"]["Id"];
            name: components["schemas"]["DisplayName"];
            username: components["schemas"]["Username"];
            /**
             * @description The path of the profile picture, to be resolved against the base address and fetched with credentials; null when there is none.
             * @example /profiles/image/d47b90e6c35f4e18b02a9f6c8e71d5a3.webp
             */
            profile_link?: string | null;
            /** @description Whether posts, pictures and full profile are for friends alone. */
            private?: boolean;
        };
        /** @description A profile with all there is to see. */
        FullProfile: {
            id: components["schemas"]["Id"];
            name: components["schemas"]["DisplayName"];
            username: components["schemas"]["Username"];
            /**
             * @description The path of the profile picture, to be resolved against the base address and fetched with credentials; null when there is none.
             * @example /profiles/image/d47b90e6c35f4e18b02a9f6c8e71d5a3.webp
             */
            profile_link: string | null;
            /** @description Whether posts, pictures and full profile are for friends alone. */
            private: boolean;
        };
        /** @description A post, with its likes as they stand. */
        Post: {
            id: components["schemas"]["Id"];
            title: components["schemas"]["PostTitle"];
            text: components["schemas"]["PostText"];
            /**
             * @description The path of the post's image, to be resolved against the base address and fetched with credentials; null when there is none.
             * @example /posts/image/3f9c1d7ae05b4286b1c4d2e97a60f385.jpg
             */
            image: string | null;
            author_id: components["schemas"]["Id"];
            /**
             * @description The author's username; null when the author's account is missing.
             * @example mira
             */
            author_username: string | null;
            created_at: components["schemas"]["Timestamp"];
            /**
             * Format: int64
             * @description How many people like the post.
             * @example 1
             */
            like_count: number;
            /** @description Whether the caller likes the post. */
            liked_by_me: boolean;
        };
        /** @description A post with the place reserved for its comments. */
        PostDetail: components["schemas"]["Post"] & {
            /** @description Reserved, and always empty. */
            comments: Record<string, never>[];
        };
        /** @description Says what has been done. */
        Message: {
            /**
             * @description An English sentence, for people to read.
             * @example You like the post.
             */
            message: string;
        };
        /** @description Says why a request was refused or has failed. */
        ApiError: {
            /**
             * @description An English sentence, for people to read.
             * @example The request is not valid.
             */
            message: string;
            /** @description Everything that is wrong with the request, in a 400 that concerns its fields; the first 100 problems where there are more. */
            errors?: components["schemas"]["FieldProblem"][];
        };
        /** @description One thing that is wrong with a request. */
        FieldProblem: {
            /**
             * @description The part of the request that holds the field.
             * @example body
             * @enum {string}
             */
            in: "body" | "query" | "path" | "header";
            /**
             * @description The field's name, as it was sent; empty when the part as a whole is meant.
             * @example username
             */
            field: string;
            /**
             * @description What is wrong with it, in English, for people to read.
             * @example is required
             */
            message: string;
        };
    };
    responses: {
        /** @description The image's bytes, as they were sent but for metadata, under the type that their signature tells. */
        StoredImage: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                ETag: components["headers"]["ETag"];
                "Cache-Control": components["headers"]["CacheControl"];
                "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                "Cross-Origin-Resource-Policy": components["headers"]["ResourcePolicy"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                [name: string]: unknown;
            };
            content: {
                /** @example (the bytes of a JPEG file) */
                "image/jpeg": Upload;
                /** @example (the bytes of a PNG file) */
                "image/png": Upload;
                /** @example (the bytes of a GIF file) */
                "image/gif": Upload;
                /** @example (the bytes of a WebP file) */
                "image/webp": Upload;
                /** @example (the bytes of an AVIF file) */
                "image/avif": Upload;
            };
        };
        /** @description The copy at hand is still good, and the caller may still see the image. */
        NotModified: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                ETag: components["headers"]["ETag"];
                "Cache-Control": components["headers"]["CacheControl"];
                "Cross-Origin-Resource-Policy": components["headers"]["ResourcePolicy"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description The request has sent a query parameter or a body that this operation does not document. */
        UnexpectedInput: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The request has sent a query parameter or a body that this operation does not document. Or the current session cannot be identified. */
        UnidentifiedSession: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The body is missing, is no JSON object, or has fields that are missing, not documented or against their rules. */
        InvalidRegistration: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The body is missing, is no JSON object, or does not hold exactly the two texts `email` and `password`. */
        InvalidLogin: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The body is missing, is no JSON object, or does not hold exactly the text `password`. */
        InvalidPasswordConfirmation: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The form is missing, malformed or changes nothing, has fields that are repeated, not documented or against their rules, or brings a file that is no allowed image or of another type than declared. */
        InvalidProfileUpdate: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The form is missing or malformed, has fields that are missing, repeated, not documented or against their rules, or brings a file that is no allowed image or of another type than declared. */
        InvalidPost: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The id is missing or is none; or the form is missing, malformed or changes nothing, has fields that are repeated, not documented or against their rules, or brings a file that is no allowed image or of another type than declared. */
        InvalidPostEdit: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The page is out of bounds, or the request has sent a query parameter or a body that this operation does not document. */
        InvalidPage: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The id is missing or is none, or the request has sent a query parameter or a body that this operation does not document. */
        InvalidPostId: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The id is missing, is none or is the caller's own, or the request has sent a query parameter or a body that this operation does not document. */
        InvalidTarget: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The id is missing or is none, or the request has sent a query parameter or a body that this operation does not document. */
        InvalidRecipient: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The id is missing or is none, or the request has sent a query parameter or a body that this operation does not document. */
        InvalidSender: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The id is missing or is none, or the request has sent a query parameter or a body that this operation does not document. */
        InvalidFriend: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description An id is missing or is none, `them` is the caller's own, or the request has sent a query parameter or a body that this operation does not document. */
        InvalidRelationship: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
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
                "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description Email and password do not belong together. Which of them is wrong is not said. */
        LoginFailed: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The password is wrong (`Invalid password`), or the credentials are missing, malformed, expired or revoked. */
        WrongPassword: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A page of another site has made a browser send this request, without an `Authorization` header. */
        CrossSite: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description `me` is not the caller's own id; or a page of another site has made a browser send this request, without an `Authorization` header. */
        NotTheCaller: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description This is not one of the caller's sessions. */
        SessionNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description There is no such user. */
        ProfileNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The post is missing or hidden from the caller. The two cannot be told apart. */
        PostNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The post is missing, hidden from the caller, or another's. The three cannot be told apart. */
        OwnPostNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The image is missing or hidden from the caller. The two cannot be told apart. */
        ImageNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description There is no such user. */
        UserNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description There is no such request that waits for an answer. */
        FriendRequestNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The two are not friends. */
        FriendNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The username or the email address is another account's. */
        AccountTaken: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The two are friends already, or one of them has asked the other already. */
        FriendshipConflict: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A request with the same `Idempotency-Key` is still in progress. Retry after a moment. */
        IdempotencyKeyInProgress: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The `Idempotency-Key` was used with another form in the last 24 hours. Send a new key with a new post. */
        IdempotencyKeyReused: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
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
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The body is of a type other than `application/json`. */
        JsonExpected: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The file is larger than an image may be, the form as a whole is larger than that and 256 KiB more, or the image would exceed the account's storage quota. Nothing is stored. */
        FormTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The body is of a type other than `multipart/form-data`. */
        FormExpected: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The rate limit is exceeded, or too many passwords of this account have failed. */
        TooManyRequests: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The service has failed. */
        ServiceFault: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description Something that this operation depends on does not answer, or the service is busy. Whether a write has happened may be unknown: see Retries. */
        Unavailable: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
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
         * @description The session's id. What is not one of the caller's sessions is 404, whatever its shape.
         * @example 5d0c7e8a-2f43-4b9e-8a66-1e9d7b3c4f21
         */
        SessionIdInPath: string;
        /**
         * @description The user's id. What is not the id of a user is 404, whatever its shape.
         * @example 12
         */
        ProfileIdInPath: components["schemas"]["Id"];
        /**
         * @description The post's id. What is not the id of a post that the caller may see is 404, whatever its shape.
         * @example 43
         */
        PostIdInPath: components["schemas"]["Id"];
        /**
         * @description The image's file name, as it stands in the path that a post or profile holds. What does not name an image that the caller may see is 404, whatever its shape.
         * @example 3f9c1d7ae05b4286b1c4d2e97a60f385.jpg
         */
        FilenameInPath: string;
        /**
         * @description The post's id.
         * @example 42
         */
        PostIdInQuery: components["schemas"]["Id"];
        /**
         * @description The friend's id.
         * @example 12
         */
        FriendInQuery: components["schemas"]["Id"];
        /**
         * @description The id of the person whom the request is for.
         * @example 12
         */
        ToUser: components["schemas"]["Id"];
        /**
         * @description The id of the person who has sent the request.
         * @example 12
         */
        FromUser: components["schemas"]["Id"];
        /**
         * @description The caller's own id.
         * @example 7
         */
        Me: components["schemas"]["Id"];
        /**
         * @description The id of the person whom the request is for.
         * @example 12
         */
        Them: components["schemas"]["Id"];
        /**
         * @description How many posts a page has at most.
         * @example 20
         */
        Limit: number;
        /**
         * @description How many of the newest posts to leave out. Deep pages (from 1000 on) are expensive and are read one after another:
         *     one whose turn does not come within a few seconds returns 503.
         * @example 0
         */
        Offset: number;
        /**
         * @description The `ETag` of a copy at hand. If it is still good the answer is 304, without the bytes.
         * @example "3f9c1d7ae05b4286b1c4d2e97a60f385.jpg"
         */
        IfNoneMatch: string;
        /** @description Makes the request safe to retry: send a new random value, such as a UUID, with each new post, and the same value with each retry. Compared exactly, quotes included. Keys belong to the account and live for 24 hours. */
        IdempotencyKey: string;
    };
    requestBodies: never;
    headers: {
        /**
         * @description Identifies this request in the service's logs.
         * @example 9b2d6c1e-54a7-4f3b-8f0d-2a7e6c9d1b35
         */
        RequestId: string;
        /**
         * @description How many requests the bucket of this operation allows in a window.
         * @example 300
         */
        RateLimitLimit: number;
        /**
         * @description How many of them are left.
         * @example 287
         */
        RateLimitRemaining: number;
        /**
         * @description In how many seconds the window ends and the count begins anew.
         * @example 642
         */
        RateLimitReset: number;
        /**
         * @description After how many seconds to try again.
         * @example 5
         */
        RetryAfter: number;
        /**
         * @description The scheme of the credentials that the service takes (RFC 6750). With `error="invalid_token"` when a token was sent and refused, which tells it from a wrong password.
         * @example Bearer error="invalid_token"
         */
        WwwAuthenticate: string;
        /**
         * @description The token as the cookie `fc_session_token`, which expires with it. `Secure` is there when the service is reached over https.
         * @example fc_session_token=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI3In0.c2lnbmF0dXJl; Path=/; Expires=Sat, 07 Feb 2026 09:12:00 GMT; HttpOnly; SameSite=Lax
         */
        SessionCookie: string;
        /**
         * @description Removes the cookie `fc_session_token`. Sent when the request has ended the current session.
         * @example fc_session_token=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax
         */
        ClearedCookie: string;
        /**
         * @description The next page as `rel="next"` (RFC 8288). Sent while there is more.
         * @example </posts?limit=2&offset=2>; rel="next"
         */
        Link: string;
        /**
         * @description A strong validator of the bytes.
         * @example "3f9c1d7ae05b4286b1c4d2e97a60f385.jpg"
         */
        ETag: string;
        /**
         * @description The caller alone may keep a copy, and asks before every use of it.
         * @example private, no-cache
         */
        CacheControl: "private, no-cache";
        /**
         * @description Keeps browsers from running anything that the bytes may hold.
         * @example default-src 'none'; sandbox
         */
        ContentSecurityPolicy: string;
        /**
         * @description Lets pages of the same site embed the image; also pages of other sites if the request's `Origin` is one that the operator trusts.
         * @example same-site
         */
        ResourcePolicy: "same-site" | "cross-origin";
        /**
         * @description Keeps browsers from taking the bytes for anything but what `Content-Type` says.
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
        /** @description Who registers. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["Registration"];
            };
        };
        responses: {
            /** @description The account exists. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RegisteredAccount"];
                };
            };
            400: components["responses"]["InvalidRegistration"];
            403: components["responses"]["CrossSite"];
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
        /** @description Who logs in. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["Credentials"];
            };
        };
        responses: {
            /** @description The session has begun. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
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
            429: components["responses"]["TooManyRequests"];
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
            /** @description The caller's account. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
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
            /** @description The session is alive. The caller's account. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
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
            /** @description The session has ended. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
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
            /** @description The caller's sessions. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
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
            /** @description The other sessions have ended. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
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
                 * @description The session's id. What is not one of the caller's sessions is 404, whatever its shape.
                 * @example 5d0c7e8a-2f43-4b9e-8a66-1e9d7b3c4f21
                 */
                id: components["parameters"]["SessionIdInPath"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session has ended. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
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
            /** @description The caller's profile. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
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
        /** @description What to change. */
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["ProfileUpdate"];
            };
        };
        responses: {
            /** @description The profile after the change. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
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
            429: components["responses"]["TooManyRequests"];
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
        /** @description The account's password, to confirm. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordConfirmation"];
            };
        };
        responses: {
            /** @description The account is deleted. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
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
            429: components["responses"]["TooManyRequests"];
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
                 * @description The user's id. What is not the id of a user is 404, whatever its shape.
                 * @example 12
                 */
                id: components["parameters"]["ProfileIdInPath"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The profile, as far as the caller may see it. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
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
                 * @description The `ETag` of a copy at hand. If it is still good the answer is 304, without the bytes.
                 * @example "3f9c1d7ae05b4286b1c4d2e97a60f385.jpg"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description The image's file name, as it stands in the path that a post or profile holds. What does not name an image that the caller may see is 404, whatever its shape.
                 * @example 3f9c1d7ae05b4286b1c4d2e97a60f385.jpg
                 */
                filename: components["parameters"]["FilenameInPath"];
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
                 * @description How many posts a page has at most.
                 * @example 20
                 */
                limit?: components["parameters"]["Limit"];
                /**
                 * @description How many of the newest posts to leave out. Deep pages (from 1000 on) are expensive and are read one after another:
                 *     one whose turn does not come within a few seconds returns 503.
                 * @example 0
                 */
                offset?: components["parameters"]["Offset"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of the feed, empty beyond its end. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
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
                 * @description How many posts a page has at most.
                 * @example 20
                 */
                limit?: components["parameters"]["Limit"];
                /**
                 * @description How many of the newest posts to leave out. Deep pages (from 1000 on) are expensive and are read one after another:
                 *     one whose turn does not come within a few seconds returns 503.
                 * @example 0
                 */
                offset?: components["parameters"]["Offset"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of the caller's posts, empty beyond their end. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
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
                 * @description The post's id. What is not the id of a post that the caller may see is 404, whatever its shape.
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
                 * @description The `ETag` of a copy at hand. If it is still good the answer is 304, without the bytes.
                 * @example "3f9c1d7ae05b4286b1c4d2e97a60f385.jpg"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description The image's file name, as it stands in the path that a post or profile holds. What does not name an image that the caller may see is 404, whatever its shape.
                 * @example 3f9c1d7ae05b4286b1c4d2e97a60f385.jpg
                 */
                filename: components["parameters"]["FilenameInPath"];
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
                /** @description Makes the request safe to retry: send a new random value, such as a UUID, with each new post, and the same value with each retry. Compared exactly, quotes included. Keys belong to the account and live for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The post. */
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["PostForm"];
            };
        };
        responses: {
            /** @description The post as it was published. A retry with the same `Idempotency-Key` gets the same response, also after the post was edited or deleted. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
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
                 * @description The post's id.
                 * @example 42
                 */
                id: components["parameters"]["PostIdInQuery"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description What to change. */
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["PostEdit"];
            };
        };
        responses: {
            /** @description The post after the change. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
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
                 * @description The post's id.
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
            /** @description The post is deleted. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
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
                 * @description The post's id.
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
            /** @description The caller likes the post. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
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
                 * @description The post's id.
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
            /** @description The caller does not like the post. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
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
            /** @description The caller's friends. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
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
            /** @description Who has asked. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
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
                 * @description The id of the person whom the request is for.
                 * @example 12
                 */
                to: components["parameters"]["ToUser"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request is sent. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
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
                 * @description The id of the person who has sent the request.
                 * @example 12
                 */
                from: components["parameters"]["FromUser"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description They are friends. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
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
                 * @description The id of the person who has sent the request.
                 * @example 12
                 */
                from: components["parameters"]["FromUser"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request is removed. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
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
                 * @description The id of the person whom the request is for.
                 * @example 12
                 */
                to: components["parameters"]["ToUser"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request is removed. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
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
                 * @description The friend's id.
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
            /** @description They are no longer friends. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
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
                 * @description The caller's own id.
                 * @example 7
                 */
                me: components["parameters"]["Me"];
                /**
                 * @description The id of the person whom the request is for.
                 * @example 12
                 */
                them: components["parameters"]["Them"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The friend request is sent. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
            400: components["responses"]["InvalidRelationship"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotTheCaller"];
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
export type OpenOperationId = 'register' | 'login';
