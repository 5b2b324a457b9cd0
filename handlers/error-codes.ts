/** All error codes with their statuses. A table in `openapi.yaml` lists the codes that a client can receive. */
export const ERROR_STATUSES = {
  invalid_request: 400,
  invalid_http: 400,
  missing_credentials: 401,
  invalid_token: 401,
  invalid_credentials: 401,
  invalid_password: 401,
  cross_site_request: 403,
  registration_closed: 403,
  user_mismatch: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  username_taken: 409,
  email_taken: 409,
  already_friends: 409,
  request_already_sent: 409,
  request_already_received: 409,
  idempotency_key_in_progress: 409,
  body_too_large: 413,
  file_too_large: 413,
  storage_quota_exceeded: 413,
  unsupported_media_type: 415,
  idempotency_key_reused: 422,
  rate_limit_exceeded: 429,
  too_many_failed_passwords: 429,
  headers_too_large: 431,
  /** Never sent, because the client has disconnected. Only counted. */
  client_closed_request: 499,
  internal_error: 500,
  store_unavailable: 503,
  overloaded: 503,
  shutting_down: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUSES;

/** The codes of field problems with their usual messages. A message continues a sentence that starts with the field's name. */
export const FIELD_MESSAGES = {
  required: 'is required',
  unknown_field: 'is not a known field',
  repeated: 'must not be repeated',
  no_changes: 'must change at least one field',
  conflicting_fields: 'must not be true together with an image',
  own_id: 'must not be your own id',

  not_a_string: 'must be a string',
  not_an_integer: 'must be an integer',
  not_a_boolean: 'must be true or false',
  not_an_object: 'must be a JSON object',
  not_a_file: 'must be a file',
  not_text: 'must be plain text',

  blank: 'must not be blank',
  whitespace: 'must not contain whitespace',
  invisible_characters: 'must not contain invisible characters',
  invalid_characters: 'contains characters that are not allowed',
  invalid_encoding: 'must be UTF-8 text',
  too_short: 'is too short',
  too_long: 'is too long',
  out_of_range: 'is out of range',
  invalid_cursor: 'must be a cursor from the header Link of a page',
  email: 'must be a valid email address',
  disposable_email: 'must not be a disposable email address',

  needs_lowercase: 'must contain a lowercase letter',
  needs_uppercase: 'must contain an uppercase letter',
  needs_digit: 'must contain a digit',
  needs_special_character: 'must contain a special character (neither a letter nor a digit)',
  contains_username: 'must not contain the username',
  contains_email: 'must not contain the part of the email address before the @',
  common_password: 'must not be a common password or a slight variation of one',
  repeated_characters: 'must not contain the same character three times in a row',
  obvious_sequence: 'must not contain an obvious sequence of letters, digits or keys, such as abcd, 4321 or qwer',

  unsupported_image: 'must be a JPEG, PNG, GIF, WebP or AVIF image',
  image_type_mismatch: 'must match its declared media type',
  too_many_pixels: 'must have at most 268,435,456 pixels in total',
  damaged_image: 'contains metadata that cannot be removed, because the structure of the file cannot be parsed',

  unexpected_body: 'must be empty, because this operation takes no body',
  malformed_json: 'must be valid JSON in UTF-8',
  malformed_form: 'must be a valid multipart form',
  incomplete_body: 'is incomplete',
} as const;

export type FieldCode = keyof typeof FIELD_MESSAGES;
