// Generated from openapi.yaml by `npm run generate`. Do not edit.

import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

const serialize0 = (() => { const module = {};
'use strict'
  const Serializer = require('fast-json-stringify/lib/serializer')
  const serializerState = {"mode":"standalone"}
  const serializer = Serializer.restoreFromState(serializerState)
  const validator = null
  module.exports = function anonymous(validator,serializer
) {
const {
  asString,
  asNumber,
  asBoolean,
  asDateTime,
  asDate,
  asTime,
  asUnsafeString,
  asPlainStringArray
} = serializer
const asInteger = serializer.asInteger.bind(serializer)
    const JSON_STR_BEGIN_OBJECT = '{'
    const JSON_STR_END_OBJECT = '}'
    const JSON_STR_BEGIN_ARRAY = '['
    const JSON_STR_END_ARRAY = ']'
    const JSON_STR_COMMA = ','
    const JSON_STR_COLONS = ':'
    const JSON_STR_QUOTE = '"'
    const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT
    const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY
    const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE
    const JSON_STR_NULL = 'null'
      // "#"
      function anonymous0 (input) {
        const obj = (input && typeof input.toJSON === 'function')
    ? input.toJSON()
    : input
        if (obj === null) return JSON_STR_EMPTY_OBJECT
        let json = ''
      const value_id_1 = obj["id"]
      if (value_id_1 !== undefined) {
        json += "{\"id\":"
        json += asInteger(value_id_1)
      } else {
        throw new Error('"id" is required!')
      }
return json + JSON_STR_END_OBJECT
      }
    const main = anonymous0
    return main
}(validator, serializer)
return module.exports; })();

const serialize1 = (() => { const module = {};
'use strict'
  const Serializer = require('fast-json-stringify/lib/serializer')
  const serializerState = {"mode":"standalone"}
  const serializer = Serializer.restoreFromState(serializerState)
  const validator = null
  module.exports = function anonymous(validator,serializer
) {
const {
  asString,
  asNumber,
  asBoolean,
  asDateTime,
  asDate,
  asTime,
  asUnsafeString,
  asPlainStringArray
} = serializer
const asInteger = serializer.asInteger.bind(serializer)
    const JSON_STR_BEGIN_OBJECT = '{'
    const JSON_STR_END_OBJECT = '}'
    const JSON_STR_BEGIN_ARRAY = '['
    const JSON_STR_END_ARRAY = ']'
    const JSON_STR_COMMA = ','
    const JSON_STR_COLONS = ':'
    const JSON_STR_QUOTE = '"'
    const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT
    const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY
    const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE
    const JSON_STR_NULL = 'null'
      // "#/properties/errors/items"
      function anonymous2 (input) {
        const obj = (input && typeof input.toJSON === 'function')
    ? input.toJSON()
    : input
        if (obj === null) return JSON_STR_EMPTY_OBJECT
        let json = ''
      const value_in_5 = obj["in"]
      if (value_in_5 !== undefined) {
        json += "{\"in\":"
        if (typeof value_in_5 !== 'string') {
          if (value_in_5 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_in_5 instanceof Date) {
            json += asDateTime(value_in_5)
          } else if (value_in_5 instanceof RegExp) {
            json += asString(value_in_5.source)
          } else {
            json += asString(value_in_5.toString())
          }
        } else {
          json += asString(value_in_5)
        }
      } else {
        throw new Error('"in" is required!')
      }
      const value_field_6 = obj["field"]
      if (value_field_6 !== undefined) {
        json += ",\"field\":"
        if (typeof value_field_6 !== 'string') {
          if (value_field_6 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_field_6 instanceof Date) {
            json += asDateTime(value_field_6)
          } else if (value_field_6 instanceof RegExp) {
            json += asString(value_field_6.source)
          } else {
            json += asString(value_field_6.toString())
          }
        } else {
          json += asString(value_field_6)
        }
      } else {
        throw new Error('"field" is required!')
      }
      const value_code_7 = obj["code"]
      if (value_code_7 !== undefined) {
        json += ",\"code\":"
        if (typeof value_code_7 !== 'string') {
          if (value_code_7 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_code_7 instanceof Date) {
            json += asDateTime(value_code_7)
          } else if (value_code_7 instanceof RegExp) {
            json += asString(value_code_7.source)
          } else {
            json += asString(value_code_7.toString())
          }
        } else {
          json += asString(value_code_7)
        }
      } else {
        throw new Error('"code" is required!')
      }
      const value_message_8 = obj["message"]
      if (value_message_8 !== undefined) {
        json += ",\"message\":"
        if (typeof value_message_8 !== 'string') {
          if (value_message_8 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_message_8 instanceof Date) {
            json += asDateTime(value_message_8)
          } else if (value_message_8 instanceof RegExp) {
            json += asString(value_message_8.source)
          } else {
            json += asString(value_message_8.toString())
          }
        } else {
          json += asString(value_message_8)
        }
      } else {
        throw new Error('"message" is required!')
      }
return json + JSON_STR_END_OBJECT
      }
    function anonymous1 (obj) {
      // "#/properties/errors"
      let json = ''
    if (obj === null) return JSON_STR_EMPTY_ARRAY
    if (!Array.isArray(obj)) {
      throw new TypeError("The value of '#/properties/errors' does not match schema definition.")
    }
    const arrayLength = obj.length
    json += JSON_STR_BEGIN_ARRAY
      if (arrayLength > 0) {
        const value = obj[0]
        json += anonymous2(value)
        for (let i = 1; i < arrayLength; i++) {
          json += JSON_STR_COMMA
          const value = obj[i]
          json += anonymous2(value)
        }
      }
      return json + JSON_STR_END_ARRAY
    }
      // "#"
      function anonymous0 (input) {
        const obj = (input && typeof input.toJSON === 'function')
    ? input.toJSON()
    : input
        if (obj === null) return JSON_STR_EMPTY_OBJECT
        let json = ''
      const value_code_1 = obj["code"]
      if (value_code_1 !== undefined) {
        json += "{\"code\":"
        if (typeof value_code_1 !== 'string') {
          if (value_code_1 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_code_1 instanceof Date) {
            json += asDateTime(value_code_1)
          } else if (value_code_1 instanceof RegExp) {
            json += asString(value_code_1.source)
          } else {
            json += asString(value_code_1.toString())
          }
        } else {
          json += asString(value_code_1)
        }
      } else {
        throw new Error('"code" is required!')
      }
      const value_message_2 = obj["message"]
      if (value_message_2 !== undefined) {
        json += ",\"message\":"
        if (typeof value_message_2 !== 'string') {
          if (value_message_2 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_message_2 instanceof Date) {
            json += asDateTime(value_message_2)
          } else if (value_message_2 instanceof RegExp) {
            json += asString(value_message_2.source)
          } else {
            json += asString(value_message_2.toString())
          }
        } else {
          json += asString(value_message_2)
        }
      } else {
        throw new Error('"message" is required!')
      }
      const value_errors_3 = obj["errors"]
      if (value_errors_3 !== undefined) {
        json += ",\"errors\":"
        json += anonymous1(value_errors_3)
      }
return json + JSON_STR_END_OBJECT
      }
    const main = anonymous0
    return main
}(validator, serializer)
return module.exports; })();

const serialize2 = (() => { const module = {};
'use strict'
  const Serializer = require('fast-json-stringify/lib/serializer')
  const serializerState = {"mode":"standalone"}
  const serializer = Serializer.restoreFromState(serializerState)
  const validator = null
  module.exports = function anonymous(validator,serializer
) {
const {
  asString,
  asNumber,
  asBoolean,
  asDateTime,
  asDate,
  asTime,
  asUnsafeString,
  asPlainStringArray
} = serializer
const asInteger = serializer.asInteger.bind(serializer)
    const JSON_STR_BEGIN_OBJECT = '{'
    const JSON_STR_END_OBJECT = '}'
    const JSON_STR_BEGIN_ARRAY = '['
    const JSON_STR_END_ARRAY = ']'
    const JSON_STR_COMMA = ','
    const JSON_STR_COLONS = ':'
    const JSON_STR_QUOTE = '"'
    const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT
    const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY
    const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE
    const JSON_STR_NULL = 'null'
      // "#"
      function anonymous0 (input) {
        const obj = (input && typeof input.toJSON === 'function')
    ? input.toJSON()
    : input
        if (obj === null) return JSON_STR_EMPTY_OBJECT
        let json = ''
      const value_id_1 = obj["id"]
      if (value_id_1 !== undefined) {
        json += "{\"id\":"
        json += asInteger(value_id_1)
      } else {
        throw new Error('"id" is required!')
      }
      const value_token_2 = obj["token"]
      if (value_token_2 !== undefined) {
        json += ",\"token\":"
        if (typeof value_token_2 !== 'string') {
          if (value_token_2 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_token_2 instanceof Date) {
            json += asDateTime(value_token_2)
          } else if (value_token_2 instanceof RegExp) {
            json += asString(value_token_2.source)
          } else {
            json += asString(value_token_2.toString())
          }
        } else {
          json += asString(value_token_2)
        }
      } else {
        throw new Error('"token" is required!')
      }
      const value_expires_at_3 = obj["expires_at"]
      if (value_expires_at_3 !== undefined) {
        json += ",\"expires_at\":"
        json += asDateTime(value_expires_at_3)
      } else {
        throw new Error('"expires_at" is required!')
      }
return json + JSON_STR_END_OBJECT
      }
    const main = anonymous0
    return main
}(validator, serializer)
return module.exports; })();

const serialize3 = (() => { const module = {};
'use strict'
  const Serializer = require('fast-json-stringify/lib/serializer')
  const serializerState = {"mode":"standalone"}
  const serializer = Serializer.restoreFromState(serializerState)
  const validator = null
  module.exports = function anonymous(validator,serializer
) {
const {
  asString,
  asNumber,
  asBoolean,
  asDateTime,
  asDate,
  asTime,
  asUnsafeString,
  asPlainStringArray
} = serializer
const asInteger = serializer.asInteger.bind(serializer)
    const JSON_STR_BEGIN_OBJECT = '{'
    const JSON_STR_END_OBJECT = '}'
    const JSON_STR_BEGIN_ARRAY = '['
    const JSON_STR_END_ARRAY = ']'
    const JSON_STR_COMMA = ','
    const JSON_STR_COLONS = ':'
    const JSON_STR_QUOTE = '"'
    const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT
    const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY
    const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE
    const JSON_STR_NULL = 'null'
      // "#"
      function anonymous0 (input) {
        const obj = (input && typeof input.toJSON === 'function')
    ? input.toJSON()
    : input
        if (obj === null) return JSON_STR_EMPTY_OBJECT
        let json = ''
      const value_id_1 = obj["id"]
      if (value_id_1 !== undefined) {
        json += "{\"id\":"
        json += asInteger(value_id_1)
      } else {
        throw new Error('"id" is required!')
      }
      const value_name_2 = obj["name"]
      if (value_name_2 !== undefined) {
        json += ",\"name\":"
        if (typeof value_name_2 !== 'string') {
          if (value_name_2 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_name_2 instanceof Date) {
            json += asDateTime(value_name_2)
          } else if (value_name_2 instanceof RegExp) {
            json += asString(value_name_2.source)
          } else {
            json += asString(value_name_2.toString())
          }
        } else {
          json += asString(value_name_2)
        }
      } else {
        throw new Error('"name" is required!')
      }
      const value_username_3 = obj["username"]
      if (value_username_3 !== undefined) {
        json += ",\"username\":"
        if (typeof value_username_3 !== 'string') {
          if (value_username_3 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_username_3 instanceof Date) {
            json += asDateTime(value_username_3)
          } else if (value_username_3 instanceof RegExp) {
            json += asString(value_username_3.source)
          } else {
            json += asString(value_username_3.toString())
          }
        } else {
          json += asString(value_username_3)
        }
      } else {
        throw new Error('"username" is required!')
      }
      const value_email_4 = obj["email"]
      if (value_email_4 !== undefined) {
        json += ",\"email\":"
        if (typeof value_email_4 !== 'string') {
          if (value_email_4 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_email_4 instanceof Date) {
            json += asDateTime(value_email_4)
          } else if (value_email_4 instanceof RegExp) {
            json += asString(value_email_4.source)
          } else {
            json += asString(value_email_4.toString())
          }
        } else {
          json += asString(value_email_4)
        }
      } else {
        throw new Error('"email" is required!')
      }
return json + JSON_STR_END_OBJECT
      }
    const main = anonymous0
    return main
}(validator, serializer)
return module.exports; })();

const serialize4 = (() => { const module = {};
'use strict'
  const Serializer = require('fast-json-stringify/lib/serializer')
  const serializerState = {"mode":"standalone"}
  const serializer = Serializer.restoreFromState(serializerState)
  const validator = null
  module.exports = function anonymous(validator,serializer
) {
const {
  asString,
  asNumber,
  asBoolean,
  asDateTime,
  asDate,
  asTime,
  asUnsafeString,
  asPlainStringArray
} = serializer
const asInteger = serializer.asInteger.bind(serializer)
    const JSON_STR_BEGIN_OBJECT = '{'
    const JSON_STR_END_OBJECT = '}'
    const JSON_STR_BEGIN_ARRAY = '['
    const JSON_STR_END_ARRAY = ']'
    const JSON_STR_COMMA = ','
    const JSON_STR_COLONS = ':'
    const JSON_STR_QUOTE = '"'
    const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT
    const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY
    const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE
    const JSON_STR_NULL = 'null'
      // "#"
      function anonymous0 (input) {
        const obj = (input && typeof input.toJSON === 'function')
    ? input.toJSON()
    : input
        if (obj === null) return JSON_STR_EMPTY_OBJECT
        let json = ''
      const value_message_1 = obj["message"]
      if (value_message_1 !== undefined) {
        json += "{\"message\":"
        if (typeof value_message_1 !== 'string') {
          if (value_message_1 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_message_1 instanceof Date) {
            json += asDateTime(value_message_1)
          } else if (value_message_1 instanceof RegExp) {
            json += asString(value_message_1.source)
          } else {
            json += asString(value_message_1.toString())
          }
        } else {
          json += asString(value_message_1)
        }
      } else {
        throw new Error('"message" is required!')
      }
return json + JSON_STR_END_OBJECT
      }
    const main = anonymous0
    return main
}(validator, serializer)
return module.exports; })();

const serialize5 = (() => { const module = {};
'use strict'
  const Serializer = require('fast-json-stringify/lib/serializer')
  const serializerState = {"mode":"standalone"}
  const serializer = Serializer.restoreFromState(serializerState)
  const validator = null
  module.exports = function anonymous(validator,serializer
) {
const {
  asString,
  asNumber,
  asBoolean,
  asDateTime,
  asDate,
  asTime,
  asUnsafeString,
  asPlainStringArray
} = serializer
const asInteger = serializer.asInteger.bind(serializer)
    const JSON_STR_BEGIN_OBJECT = '{'
    const JSON_STR_END_OBJECT = '}'
    const JSON_STR_BEGIN_ARRAY = '['
    const JSON_STR_END_ARRAY = ']'
    const JSON_STR_COMMA = ','
    const JSON_STR_COLONS = ':'
    const JSON_STR_QUOTE = '"'
    const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT
    const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY
    const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE
    const JSON_STR_NULL = 'null'
      // "#/items"
      function anonymous1 (input) {
        const obj = (input && typeof input.toJSON === 'function')
    ? input.toJSON()
    : input
        if (obj === null) return JSON_STR_EMPTY_OBJECT
        let json = ''
      const value_id_1 = obj["id"]
      if (value_id_1 !== undefined) {
        json += "{\"id\":"
        if (typeof value_id_1 !== 'string') {
          if (value_id_1 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_id_1 instanceof Date) {
            json += asDateTime(value_id_1)
          } else if (value_id_1 instanceof RegExp) {
            json += asString(value_id_1.source)
          } else {
            json += asString(value_id_1.toString())
          }
        } else {
          json += asString(value_id_1)
        }
      } else {
        throw new Error('"id" is required!')
      }
      const value_device_name_2 = obj["device_name"]
      if (value_device_name_2 !== undefined) {
        json += ",\"device_name\":"
        if (typeof value_device_name_2 !== 'string') {
          if (value_device_name_2 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_device_name_2 instanceof Date) {
            json += asDateTime(value_device_name_2)
          } else if (value_device_name_2 instanceof RegExp) {
            json += asString(value_device_name_2.source)
          } else {
            json += asString(value_device_name_2.toString())
          }
        } else {
          json += asString(value_device_name_2)
        }
      } else {
        throw new Error('"device_name" is required!')
      }
      const value_created_at_3 = obj["created_at"]
      if (value_created_at_3 !== undefined) {
        json += ",\"created_at\":"
        json += asDateTime(value_created_at_3)
      } else {
        throw new Error('"created_at" is required!')
      }
      const value_last_used_at_4 = obj["last_used_at"]
      if (value_last_used_at_4 !== undefined) {
        json += ",\"last_used_at\":"
        json += asDateTime(value_last_used_at_4)
      } else {
        throw new Error('"last_used_at" is required!')
      }
      const value_current_5 = obj["current"]
      if (value_current_5 !== undefined) {
        json += ",\"current\":"
        json += asBoolean(value_current_5)
      } else {
        throw new Error('"current" is required!')
      }
return json + JSON_STR_END_OBJECT
      }
    function anonymous0 (obj) {
      // "#"
      let json = ''
    if (obj === null) return JSON_STR_EMPTY_ARRAY
    if (!Array.isArray(obj)) {
      throw new TypeError("The value of '#' does not match schema definition.")
    }
    const arrayLength = obj.length
    json += JSON_STR_BEGIN_ARRAY
      if (arrayLength > 0) {
        const value = obj[0]
        json += anonymous1(value)
        for (let i = 1; i < arrayLength; i++) {
          json += JSON_STR_COMMA
          const value = obj[i]
          json += anonymous1(value)
        }
      }
      return json + JSON_STR_END_ARRAY
    }
    const main = anonymous0
    return main
}(validator, serializer)
return module.exports; })();

const serialize6 = (() => { const module = {};
'use strict'
  const Serializer = require('fast-json-stringify/lib/serializer')
  const serializerState = {"mode":"standalone"}
  const serializer = Serializer.restoreFromState(serializerState)
  const validator = null
  module.exports = function anonymous(validator,serializer
) {
const {
  asString,
  asNumber,
  asBoolean,
  asDateTime,
  asDate,
  asTime,
  asUnsafeString,
  asPlainStringArray
} = serializer
const asInteger = serializer.asInteger.bind(serializer)
    const JSON_STR_BEGIN_OBJECT = '{'
    const JSON_STR_END_OBJECT = '}'
    const JSON_STR_BEGIN_ARRAY = '['
    const JSON_STR_END_ARRAY = ']'
    const JSON_STR_COMMA = ','
    const JSON_STR_COLONS = ':'
    const JSON_STR_QUOTE = '"'
    const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT
    const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY
    const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE
    const JSON_STR_NULL = 'null'
      // "#"
      function anonymous0 (input) {
        const obj = (input && typeof input.toJSON === 'function')
    ? input.toJSON()
    : input
        if (obj === null) return JSON_STR_EMPTY_OBJECT
        let json = ''
      const value_id_1 = obj["id"]
      if (value_id_1 !== undefined) {
        json += "{\"id\":"
        json += asInteger(value_id_1)
      } else {
        throw new Error('"id" is required!')
      }
      const value_name_2 = obj["name"]
      if (value_name_2 !== undefined) {
        json += ",\"name\":"
        if (typeof value_name_2 !== 'string') {
          if (value_name_2 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_name_2 instanceof Date) {
            json += asDateTime(value_name_2)
          } else if (value_name_2 instanceof RegExp) {
            json += asString(value_name_2.source)
          } else {
            json += asString(value_name_2.toString())
          }
        } else {
          json += asString(value_name_2)
        }
      } else {
        throw new Error('"name" is required!')
      }
      const value_username_3 = obj["username"]
      if (value_username_3 !== undefined) {
        json += ",\"username\":"
        if (typeof value_username_3 !== 'string') {
          if (value_username_3 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_username_3 instanceof Date) {
            json += asDateTime(value_username_3)
          } else if (value_username_3 instanceof RegExp) {
            json += asString(value_username_3.source)
          } else {
            json += asString(value_username_3.toString())
          }
        } else {
          json += asString(value_username_3)
        }
      } else {
        throw new Error('"username" is required!')
      }
      const value_profile_link_4 = obj["profile_link"]
      if (value_profile_link_4 !== undefined) {
        json += ",\"profile_link\":"
          if (value_profile_link_4 === null) {
            json += JSON_STR_NULL
          }
          else if(
            typeof value_profile_link_4 === "string" ||
            value_profile_link_4 === null ||
            value_profile_link_4 instanceof Date ||
            value_profile_link_4 instanceof RegExp ||
            (
              typeof value_profile_link_4 === "object" &&
              typeof value_profile_link_4.toString === "function" &&
              value_profile_link_4.toString !== Object.prototype.toString
            )
          ) {
        if (typeof value_profile_link_4 !== 'string') {
          if (value_profile_link_4 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_profile_link_4 instanceof Date) {
            json += asDateTime(value_profile_link_4)
          } else if (value_profile_link_4 instanceof RegExp) {
            json += asString(value_profile_link_4.source)
          } else {
            json += asString(value_profile_link_4.toString())
          }
        } else {
          json += asString(value_profile_link_4)
        }
          }
    else throw new TypeError("The value of '#/properties/profile_link' does not match schema definition.")
      } else {
        throw new Error('"profile_link" is required!')
      }
      const value_private_5 = obj["private"]
      if (value_private_5 !== undefined) {
        json += ",\"private\":"
        json += asBoolean(value_private_5)
      } else {
        throw new Error('"private" is required!')
      }
return json + JSON_STR_END_OBJECT
      }
    const main = anonymous0
    return main
}(validator, serializer)
return module.exports; })();

const serialize7 = (() => { const module = {};
'use strict'
  const Serializer = require('fast-json-stringify/lib/serializer')
  const serializerState = {"mode":"standalone"}
  const serializer = Serializer.restoreFromState(serializerState)
  const validator = null
  module.exports = function anonymous(validator,serializer
) {
const {
  asString,
  asNumber,
  asBoolean,
  asDateTime,
  asDate,
  asTime,
  asUnsafeString,
  asPlainStringArray
} = serializer
const asInteger = serializer.asInteger.bind(serializer)
    const JSON_STR_BEGIN_OBJECT = '{'
    const JSON_STR_END_OBJECT = '}'
    const JSON_STR_BEGIN_ARRAY = '['
    const JSON_STR_END_ARRAY = ']'
    const JSON_STR_COMMA = ','
    const JSON_STR_COLONS = ':'
    const JSON_STR_QUOTE = '"'
    const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT
    const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY
    const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE
    const JSON_STR_NULL = 'null'
      // "#"
      function anonymous0 (input) {
        const obj = (input && typeof input.toJSON === 'function')
    ? input.toJSON()
    : input
        if (obj === null) return JSON_STR_EMPTY_OBJECT
        let json = ''
      const value_id_1 = obj["id"]
      if (value_id_1 !== undefined) {
        json += "{\"id\":"
        json += asInteger(value_id_1)
      } else {
        throw new Error('"id" is required!')
      }
      const value_name_2 = obj["name"]
      if (value_name_2 !== undefined) {
        json += ",\"name\":"
        if (typeof value_name_2 !== 'string') {
          if (value_name_2 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_name_2 instanceof Date) {
            json += asDateTime(value_name_2)
          } else if (value_name_2 instanceof RegExp) {
            json += asString(value_name_2.source)
          } else {
            json += asString(value_name_2.toString())
          }
        } else {
          json += asString(value_name_2)
        }
      } else {
        throw new Error('"name" is required!')
      }
      const value_username_3 = obj["username"]
      if (value_username_3 !== undefined) {
        json += ",\"username\":"
        if (typeof value_username_3 !== 'string') {
          if (value_username_3 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_username_3 instanceof Date) {
            json += asDateTime(value_username_3)
          } else if (value_username_3 instanceof RegExp) {
            json += asString(value_username_3.source)
          } else {
            json += asString(value_username_3.toString())
          }
        } else {
          json += asString(value_username_3)
        }
      } else {
        throw new Error('"username" is required!')
      }
      const value_profile_link_4 = obj["profile_link"]
      if (value_profile_link_4 !== undefined) {
        json += ",\"profile_link\":"
          if (value_profile_link_4 === null) {
            json += JSON_STR_NULL
          }
          else if(
            typeof value_profile_link_4 === "string" ||
            value_profile_link_4 === null ||
            value_profile_link_4 instanceof Date ||
            value_profile_link_4 instanceof RegExp ||
            (
              typeof value_profile_link_4 === "object" &&
              typeof value_profile_link_4.toString === "function" &&
              value_profile_link_4.toString !== Object.prototype.toString
            )
          ) {
        if (typeof value_profile_link_4 !== 'string') {
          if (value_profile_link_4 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_profile_link_4 instanceof Date) {
            json += asDateTime(value_profile_link_4)
          } else if (value_profile_link_4 instanceof RegExp) {
            json += asString(value_profile_link_4.source)
          } else {
            json += asString(value_profile_link_4.toString())
          }
        } else {
          json += asString(value_profile_link_4)
        }
          }
    else throw new TypeError("The value of '#/properties/profile_link' does not match schema definition.")
      }
      const value_private_5 = obj["private"]
      if (value_private_5 !== undefined) {
        json += ",\"private\":"
        json += asBoolean(value_private_5)
      }
return json + JSON_STR_END_OBJECT
      }
    const main = anonymous0
    return main
}(validator, serializer)
return module.exports; })();

const serialize8 = (() => { const module = {};
'use strict'
  const Serializer = require('fast-json-stringify/lib/serializer')
  const serializerState = {"mode":"standalone"}
  const serializer = Serializer.restoreFromState(serializerState)
  const validator = null
  module.exports = function anonymous(validator,serializer
) {
const {
  asString,
  asNumber,
  asBoolean,
  asDateTime,
  asDate,
  asTime,
  asUnsafeString,
  asPlainStringArray
} = serializer
const asInteger = serializer.asInteger.bind(serializer)
    const JSON_STR_BEGIN_OBJECT = '{'
    const JSON_STR_END_OBJECT = '}'
    const JSON_STR_BEGIN_ARRAY = '['
    const JSON_STR_END_ARRAY = ']'
    const JSON_STR_COMMA = ','
    const JSON_STR_COLONS = ':'
    const JSON_STR_QUOTE = '"'
    const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT
    const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY
    const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE
    const JSON_STR_NULL = 'null'
      // "#/items"
      function anonymous1 (input) {
        const obj = (input && typeof input.toJSON === 'function')
    ? input.toJSON()
    : input
        if (obj === null) return JSON_STR_EMPTY_OBJECT
        let json = ''
      const value_id_1 = obj["id"]
      if (value_id_1 !== undefined) {
        json += "{\"id\":"
        json += asInteger(value_id_1)
      } else {
        throw new Error('"id" is required!')
      }
      const value_title_2 = obj["title"]
      if (value_title_2 !== undefined) {
        json += ",\"title\":"
        if (typeof value_title_2 !== 'string') {
          if (value_title_2 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_title_2 instanceof Date) {
            json += asDateTime(value_title_2)
          } else if (value_title_2 instanceof RegExp) {
            json += asString(value_title_2.source)
          } else {
            json += asString(value_title_2.toString())
          }
        } else {
          json += asString(value_title_2)
        }
      } else {
        throw new Error('"title" is required!')
      }
      const value_text_3 = obj["text"]
      if (value_text_3 !== undefined) {
        json += ",\"text\":"
        if (typeof value_text_3 !== 'string') {
          if (value_text_3 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_text_3 instanceof Date) {
            json += asDateTime(value_text_3)
          } else if (value_text_3 instanceof RegExp) {
            json += asString(value_text_3.source)
          } else {
            json += asString(value_text_3.toString())
          }
        } else {
          json += asString(value_text_3)
        }
      } else {
        throw new Error('"text" is required!')
      }
      const value_image_4 = obj["image"]
      if (value_image_4 !== undefined) {
        json += ",\"image\":"
          if (value_image_4 === null) {
            json += JSON_STR_NULL
          }
          else if(
            typeof value_image_4 === "string" ||
            value_image_4 === null ||
            value_image_4 instanceof Date ||
            value_image_4 instanceof RegExp ||
            (
              typeof value_image_4 === "object" &&
              typeof value_image_4.toString === "function" &&
              value_image_4.toString !== Object.prototype.toString
            )
          ) {
        if (typeof value_image_4 !== 'string') {
          if (value_image_4 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_image_4 instanceof Date) {
            json += asDateTime(value_image_4)
          } else if (value_image_4 instanceof RegExp) {
            json += asString(value_image_4.source)
          } else {
            json += asString(value_image_4.toString())
          }
        } else {
          json += asString(value_image_4)
        }
          }
    else throw new TypeError("The value of '#/items/properties/image' does not match schema definition.")
      } else {
        throw new Error('"image" is required!')
      }
      const value_author_id_5 = obj["author_id"]
      if (value_author_id_5 !== undefined) {
        json += ",\"author_id\":"
        json += asInteger(value_author_id_5)
      } else {
        throw new Error('"author_id" is required!')
      }
      const value_author_username_6 = obj["author_username"]
      if (value_author_username_6 !== undefined) {
        json += ",\"author_username\":"
          if (value_author_username_6 === null) {
            json += JSON_STR_NULL
          }
          else if(
            typeof value_author_username_6 === "string" ||
            value_author_username_6 === null ||
            value_author_username_6 instanceof Date ||
            value_author_username_6 instanceof RegExp ||
            (
              typeof value_author_username_6 === "object" &&
              typeof value_author_username_6.toString === "function" &&
              value_author_username_6.toString !== Object.prototype.toString
            )
          ) {
        if (typeof value_author_username_6 !== 'string') {
          if (value_author_username_6 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_author_username_6 instanceof Date) {
            json += asDateTime(value_author_username_6)
          } else if (value_author_username_6 instanceof RegExp) {
            json += asString(value_author_username_6.source)
          } else {
            json += asString(value_author_username_6.toString())
          }
        } else {
          json += asString(value_author_username_6)
        }
          }
    else throw new TypeError("The value of '#/items/properties/author_username' does not match schema definition.")
      } else {
        throw new Error('"author_username" is required!')
      }
      const value_created_at_7 = obj["created_at"]
      if (value_created_at_7 !== undefined) {
        json += ",\"created_at\":"
        json += asDateTime(value_created_at_7)
      } else {
        throw new Error('"created_at" is required!')
      }
      const value_like_count_8 = obj["like_count"]
      if (value_like_count_8 !== undefined) {
        json += ",\"like_count\":"
        json += asInteger(value_like_count_8)
      } else {
        throw new Error('"like_count" is required!')
      }
      const value_liked_by_me_9 = obj["liked_by_me"]
      if (value_liked_by_me_9 !== undefined) {
        json += ",\"liked_by_me\":"
        json += asBoolean(value_liked_by_me_9)
      } else {
        throw new Error('"liked_by_me" is required!')
      }
return json + JSON_STR_END_OBJECT
      }
    function anonymous0 (obj) {
      // "#"
      let json = ''
    if (obj === null) return JSON_STR_EMPTY_ARRAY
    if (!Array.isArray(obj)) {
      throw new TypeError("The value of '#' does not match schema definition.")
    }
    const arrayLength = obj.length
    json += JSON_STR_BEGIN_ARRAY
      if (arrayLength > 0) {
        const value = obj[0]
        json += anonymous1(value)
        for (let i = 1; i < arrayLength; i++) {
          json += JSON_STR_COMMA
          const value = obj[i]
          json += anonymous1(value)
        }
      }
      return json + JSON_STR_END_ARRAY
    }
    const main = anonymous0
    return main
}(validator, serializer)
return module.exports; })();

const serialize9 = (() => { const module = {};
'use strict'
  const Serializer = require('fast-json-stringify/lib/serializer')
  const serializerState = {"mode":"standalone"}
  const serializer = Serializer.restoreFromState(serializerState)
  const validator = null
  module.exports = function anonymous(validator,serializer
) {
const {
  asString,
  asNumber,
  asBoolean,
  asDateTime,
  asDate,
  asTime,
  asUnsafeString,
  asPlainStringArray
} = serializer
const asInteger = serializer.asInteger.bind(serializer)
    const JSON_STR_BEGIN_OBJECT = '{'
    const JSON_STR_END_OBJECT = '}'
    const JSON_STR_BEGIN_ARRAY = '['
    const JSON_STR_END_ARRAY = ']'
    const JSON_STR_COMMA = ','
    const JSON_STR_COLONS = ':'
    const JSON_STR_QUOTE = '"'
    const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT
    const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY
    const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE
    const JSON_STR_NULL = 'null'
      // "__fjs_merged_0#/properties/comments/items"
      function anonymous2 (input) {
        const obj = (input && typeof input.toJSON === 'function')
    ? input.toJSON()
    : input
        if (obj === null) return JSON_STR_EMPTY_OBJECT
        let json = ''
        json += JSON_STR_BEGIN_OBJECT
return json + JSON_STR_END_OBJECT
      }
    function anonymous1 (obj) {
      // "__fjs_merged_0#/properties/comments"
      let json = ''
    if (obj === null) return JSON_STR_EMPTY_ARRAY
    if (!Array.isArray(obj)) {
      throw new TypeError("The value of '__fjs_merged_0#/properties/comments' does not match schema definition.")
    }
    const arrayLength = obj.length
    json += JSON_STR_BEGIN_ARRAY
      if (arrayLength > 0) {
        const value = obj[0]
        json += anonymous2(value)
        for (let i = 1; i < arrayLength; i++) {
          json += JSON_STR_COMMA
          const value = obj[i]
          json += anonymous2(value)
        }
      }
      return json + JSON_STR_END_ARRAY
    }
      // "__fjs_merged_0#"
      function anonymous0 (input) {
        const obj = (input && typeof input.toJSON === 'function')
    ? input.toJSON()
    : input
        if (obj === null) return JSON_STR_EMPTY_OBJECT
        let json = ''
      const value_id_1 = obj["id"]
      if (value_id_1 !== undefined) {
        json += "{\"id\":"
        json += asInteger(value_id_1)
      } else {
        throw new Error('"id" is required!')
      }
      const value_title_2 = obj["title"]
      if (value_title_2 !== undefined) {
        json += ",\"title\":"
        if (typeof value_title_2 !== 'string') {
          if (value_title_2 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_title_2 instanceof Date) {
            json += asDateTime(value_title_2)
          } else if (value_title_2 instanceof RegExp) {
            json += asString(value_title_2.source)
          } else {
            json += asString(value_title_2.toString())
          }
        } else {
          json += asString(value_title_2)
        }
      } else {
        throw new Error('"title" is required!')
      }
      const value_text_3 = obj["text"]
      if (value_text_3 !== undefined) {
        json += ",\"text\":"
        if (typeof value_text_3 !== 'string') {
          if (value_text_3 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_text_3 instanceof Date) {
            json += asDateTime(value_text_3)
          } else if (value_text_3 instanceof RegExp) {
            json += asString(value_text_3.source)
          } else {
            json += asString(value_text_3.toString())
          }
        } else {
          json += asString(value_text_3)
        }
      } else {
        throw new Error('"text" is required!')
      }
      const value_image_4 = obj["image"]
      if (value_image_4 !== undefined) {
        json += ",\"image\":"
          if (value_image_4 === null) {
            json += JSON_STR_NULL
          }
          else if(
            typeof value_image_4 === "string" ||
            value_image_4 === null ||
            value_image_4 instanceof Date ||
            value_image_4 instanceof RegExp ||
            (
              typeof value_image_4 === "object" &&
              typeof value_image_4.toString === "function" &&
              value_image_4.toString !== Object.prototype.toString
            )
          ) {
        if (typeof value_image_4 !== 'string') {
          if (value_image_4 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_image_4 instanceof Date) {
            json += asDateTime(value_image_4)
          } else if (value_image_4 instanceof RegExp) {
            json += asString(value_image_4.source)
          } else {
            json += asString(value_image_4.toString())
          }
        } else {
          json += asString(value_image_4)
        }
          }
    else throw new TypeError("The value of '__fjs_merged_0#/properties/image' does not match schema definition.")
      } else {
        throw new Error('"image" is required!')
      }
      const value_author_id_5 = obj["author_id"]
      if (value_author_id_5 !== undefined) {
        json += ",\"author_id\":"
        json += asInteger(value_author_id_5)
      } else {
        throw new Error('"author_id" is required!')
      }
      const value_author_username_6 = obj["author_username"]
      if (value_author_username_6 !== undefined) {
        json += ",\"author_username\":"
          if (value_author_username_6 === null) {
            json += JSON_STR_NULL
          }
          else if(
            typeof value_author_username_6 === "string" ||
            value_author_username_6 === null ||
            value_author_username_6 instanceof Date ||
            value_author_username_6 instanceof RegExp ||
            (
              typeof value_author_username_6 === "object" &&
              typeof value_author_username_6.toString === "function" &&
              value_author_username_6.toString !== Object.prototype.toString
            )
          ) {
        if (typeof value_author_username_6 !== 'string') {
          if (value_author_username_6 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_author_username_6 instanceof Date) {
            json += asDateTime(value_author_username_6)
          } else if (value_author_username_6 instanceof RegExp) {
            json += asString(value_author_username_6.source)
          } else {
            json += asString(value_author_username_6.toString())
          }
        } else {
          json += asString(value_author_username_6)
        }
          }
    else throw new TypeError("The value of '__fjs_merged_0#/properties/author_username' does not match schema definition.")
      } else {
        throw new Error('"author_username" is required!')
      }
      const value_created_at_7 = obj["created_at"]
      if (value_created_at_7 !== undefined) {
        json += ",\"created_at\":"
        json += asDateTime(value_created_at_7)
      } else {
        throw new Error('"created_at" is required!')
      }
      const value_like_count_8 = obj["like_count"]
      if (value_like_count_8 !== undefined) {
        json += ",\"like_count\":"
        json += asInteger(value_like_count_8)
      } else {
        throw new Error('"like_count" is required!')
      }
      const value_liked_by_me_9 = obj["liked_by_me"]
      if (value_liked_by_me_9 !== undefined) {
        json += ",\"liked_by_me\":"
        json += asBoolean(value_liked_by_me_9)
      } else {
        throw new Error('"liked_by_me" is required!')
      }
      const value_comments_10 = obj["comments"]
      if (value_comments_10 !== undefined) {
        json += ",\"comments\":"
        json += anonymous1(value_comments_10)
      } else {
        throw new Error('"comments" is required!')
      }
return json + JSON_STR_END_OBJECT
      }
    const main = anonymous0
    return main
}(validator, serializer)
return module.exports; })();

const serialize10 = (() => { const module = {};
'use strict'
  const Serializer = require('fast-json-stringify/lib/serializer')
  const serializerState = {"mode":"standalone"}
  const serializer = Serializer.restoreFromState(serializerState)
  const validator = null
  module.exports = function anonymous(validator,serializer
) {
const {
  asString,
  asNumber,
  asBoolean,
  asDateTime,
  asDate,
  asTime,
  asUnsafeString,
  asPlainStringArray
} = serializer
const asInteger = serializer.asInteger.bind(serializer)
    const JSON_STR_BEGIN_OBJECT = '{'
    const JSON_STR_END_OBJECT = '}'
    const JSON_STR_BEGIN_ARRAY = '['
    const JSON_STR_END_ARRAY = ']'
    const JSON_STR_COMMA = ','
    const JSON_STR_COLONS = ':'
    const JSON_STR_QUOTE = '"'
    const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT
    const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY
    const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE
    const JSON_STR_NULL = 'null'
      // "#"
      function anonymous0 (input) {
        const obj = (input && typeof input.toJSON === 'function')
    ? input.toJSON()
    : input
        if (obj === null) return JSON_STR_EMPTY_OBJECT
        let json = ''
      const value_id_1 = obj["id"]
      if (value_id_1 !== undefined) {
        json += "{\"id\":"
        json += asInteger(value_id_1)
      } else {
        throw new Error('"id" is required!')
      }
      const value_title_2 = obj["title"]
      if (value_title_2 !== undefined) {
        json += ",\"title\":"
        if (typeof value_title_2 !== 'string') {
          if (value_title_2 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_title_2 instanceof Date) {
            json += asDateTime(value_title_2)
          } else if (value_title_2 instanceof RegExp) {
            json += asString(value_title_2.source)
          } else {
            json += asString(value_title_2.toString())
          }
        } else {
          json += asString(value_title_2)
        }
      } else {
        throw new Error('"title" is required!')
      }
      const value_text_3 = obj["text"]
      if (value_text_3 !== undefined) {
        json += ",\"text\":"
        if (typeof value_text_3 !== 'string') {
          if (value_text_3 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_text_3 instanceof Date) {
            json += asDateTime(value_text_3)
          } else if (value_text_3 instanceof RegExp) {
            json += asString(value_text_3.source)
          } else {
            json += asString(value_text_3.toString())
          }
        } else {
          json += asString(value_text_3)
        }
      } else {
        throw new Error('"text" is required!')
      }
      const value_image_4 = obj["image"]
      if (value_image_4 !== undefined) {
        json += ",\"image\":"
          if (value_image_4 === null) {
            json += JSON_STR_NULL
          }
          else if(
            typeof value_image_4 === "string" ||
            value_image_4 === null ||
            value_image_4 instanceof Date ||
            value_image_4 instanceof RegExp ||
            (
              typeof value_image_4 === "object" &&
              typeof value_image_4.toString === "function" &&
              value_image_4.toString !== Object.prototype.toString
            )
          ) {
        if (typeof value_image_4 !== 'string') {
          if (value_image_4 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_image_4 instanceof Date) {
            json += asDateTime(value_image_4)
          } else if (value_image_4 instanceof RegExp) {
            json += asString(value_image_4.source)
          } else {
            json += asString(value_image_4.toString())
          }
        } else {
          json += asString(value_image_4)
        }
          }
    else throw new TypeError("The value of '#/properties/image' does not match schema definition.")
      } else {
        throw new Error('"image" is required!')
      }
      const value_author_id_5 = obj["author_id"]
      if (value_author_id_5 !== undefined) {
        json += ",\"author_id\":"
        json += asInteger(value_author_id_5)
      } else {
        throw new Error('"author_id" is required!')
      }
      const value_author_username_6 = obj["author_username"]
      if (value_author_username_6 !== undefined) {
        json += ",\"author_username\":"
          if (value_author_username_6 === null) {
            json += JSON_STR_NULL
          }
          else if(
            typeof value_author_username_6 === "string" ||
            value_author_username_6 === null ||
            value_author_username_6 instanceof Date ||
            value_author_username_6 instanceof RegExp ||
            (
              typeof value_author_username_6 === "object" &&
              typeof value_author_username_6.toString === "function" &&
              value_author_username_6.toString !== Object.prototype.toString
            )
          ) {
        if (typeof value_author_username_6 !== 'string') {
          if (value_author_username_6 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_author_username_6 instanceof Date) {
            json += asDateTime(value_author_username_6)
          } else if (value_author_username_6 instanceof RegExp) {
            json += asString(value_author_username_6.source)
          } else {
            json += asString(value_author_username_6.toString())
          }
        } else {
          json += asString(value_author_username_6)
        }
          }
    else throw new TypeError("The value of '#/properties/author_username' does not match schema definition.")
      } else {
        throw new Error('"author_username" is required!')
      }
      const value_created_at_7 = obj["created_at"]
      if (value_created_at_7 !== undefined) {
        json += ",\"created_at\":"
        json += asDateTime(value_created_at_7)
      } else {
        throw new Error('"created_at" is required!')
      }
      const value_like_count_8 = obj["like_count"]
      if (value_like_count_8 !== undefined) {
        json += ",\"like_count\":"
        json += asInteger(value_like_count_8)
      } else {
        throw new Error('"like_count" is required!')
      }
      const value_liked_by_me_9 = obj["liked_by_me"]
      if (value_liked_by_me_9 !== undefined) {
        json += ",\"liked_by_me\":"
        json += asBoolean(value_liked_by_me_9)
      } else {
        throw new Error('"liked_by_me" is required!')
      }
return json + JSON_STR_END_OBJECT
      }
    const main = anonymous0
    return main
}(validator, serializer)
return module.exports; })();

const serialize11 = (() => { const module = {};
'use strict'
  const Serializer = require('fast-json-stringify/lib/serializer')
  const serializerState = {"mode":"standalone"}
  const serializer = Serializer.restoreFromState(serializerState)
  const validator = null
  module.exports = function anonymous(validator,serializer
) {
const {
  asString,
  asNumber,
  asBoolean,
  asDateTime,
  asDate,
  asTime,
  asUnsafeString,
  asPlainStringArray
} = serializer
const asInteger = serializer.asInteger.bind(serializer)
    const JSON_STR_BEGIN_OBJECT = '{'
    const JSON_STR_END_OBJECT = '}'
    const JSON_STR_BEGIN_ARRAY = '['
    const JSON_STR_END_ARRAY = ']'
    const JSON_STR_COMMA = ','
    const JSON_STR_COLONS = ':'
    const JSON_STR_QUOTE = '"'
    const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT
    const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY
    const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE
    const JSON_STR_NULL = 'null'
      // "#/items"
      function anonymous1 (input) {
        const obj = (input && typeof input.toJSON === 'function')
    ? input.toJSON()
    : input
        if (obj === null) return JSON_STR_EMPTY_OBJECT
        let json = ''
      const value_id_1 = obj["id"]
      if (value_id_1 !== undefined) {
        json += "{\"id\":"
        json += asInteger(value_id_1)
      } else {
        throw new Error('"id" is required!')
      }
      const value_name_2 = obj["name"]
      if (value_name_2 !== undefined) {
        json += ",\"name\":"
        if (typeof value_name_2 !== 'string') {
          if (value_name_2 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_name_2 instanceof Date) {
            json += asDateTime(value_name_2)
          } else if (value_name_2 instanceof RegExp) {
            json += asString(value_name_2.source)
          } else {
            json += asString(value_name_2.toString())
          }
        } else {
          json += asString(value_name_2)
        }
      } else {
        throw new Error('"name" is required!')
      }
      const value_username_3 = obj["username"]
      if (value_username_3 !== undefined) {
        json += ",\"username\":"
        if (typeof value_username_3 !== 'string') {
          if (value_username_3 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_username_3 instanceof Date) {
            json += asDateTime(value_username_3)
          } else if (value_username_3 instanceof RegExp) {
            json += asString(value_username_3.source)
          } else {
            json += asString(value_username_3.toString())
          }
        } else {
          json += asString(value_username_3)
        }
      } else {
        throw new Error('"username" is required!')
      }
      const value_profile_link_4 = obj["profile_link"]
      if (value_profile_link_4 !== undefined) {
        json += ",\"profile_link\":"
          if (value_profile_link_4 === null) {
            json += JSON_STR_NULL
          }
          else if(
            typeof value_profile_link_4 === "string" ||
            value_profile_link_4 === null ||
            value_profile_link_4 instanceof Date ||
            value_profile_link_4 instanceof RegExp ||
            (
              typeof value_profile_link_4 === "object" &&
              typeof value_profile_link_4.toString === "function" &&
              value_profile_link_4.toString !== Object.prototype.toString
            )
          ) {
        if (typeof value_profile_link_4 !== 'string') {
          if (value_profile_link_4 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_profile_link_4 instanceof Date) {
            json += asDateTime(value_profile_link_4)
          } else if (value_profile_link_4 instanceof RegExp) {
            json += asString(value_profile_link_4.source)
          } else {
            json += asString(value_profile_link_4.toString())
          }
        } else {
          json += asString(value_profile_link_4)
        }
          }
    else throw new TypeError("The value of '#/items/properties/profile_link' does not match schema definition.")
      } else {
        throw new Error('"profile_link" is required!')
      }
      const value_private_5 = obj["private"]
      if (value_private_5 !== undefined) {
        json += ",\"private\":"
        json += asBoolean(value_private_5)
      } else {
        throw new Error('"private" is required!')
      }
return json + JSON_STR_END_OBJECT
      }
    function anonymous0 (obj) {
      // "#"
      let json = ''
    if (obj === null) return JSON_STR_EMPTY_ARRAY
    if (!Array.isArray(obj)) {
      throw new TypeError("The value of '#' does not match schema definition.")
    }
    const arrayLength = obj.length
    json += JSON_STR_BEGIN_ARRAY
      if (arrayLength > 0) {
        const value = obj[0]
        json += anonymous1(value)
        for (let i = 1; i < arrayLength; i++) {
          json += JSON_STR_COMMA
          const value = obj[i]
          json += anonymous1(value)
        }
      }
      return json + JSON_STR_END_ARRAY
    }
    const main = anonymous0
    return main
}(validator, serializer)
return module.exports; })();

const serialize12 = (() => { const module = {};
'use strict'
  const Serializer = require('fast-json-stringify/lib/serializer')
  const serializerState = {"mode":"standalone"}
  const serializer = Serializer.restoreFromState(serializerState)
  const validator = null
  module.exports = function anonymous(validator,serializer
) {
const {
  asString,
  asNumber,
  asBoolean,
  asDateTime,
  asDate,
  asTime,
  asUnsafeString,
  asPlainStringArray
} = serializer
const asInteger = serializer.asInteger.bind(serializer)
    const JSON_STR_BEGIN_OBJECT = '{'
    const JSON_STR_END_OBJECT = '}'
    const JSON_STR_BEGIN_ARRAY = '['
    const JSON_STR_END_ARRAY = ']'
    const JSON_STR_COMMA = ','
    const JSON_STR_COLONS = ':'
    const JSON_STR_QUOTE = '"'
    const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT
    const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY
    const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE
    const JSON_STR_NULL = 'null'
      // "#/items"
      function anonymous1 (input) {
        const obj = (input && typeof input.toJSON === 'function')
    ? input.toJSON()
    : input
        if (obj === null) return JSON_STR_EMPTY_OBJECT
        let json = ''
      const value_id_1 = obj["id"]
      if (value_id_1 !== undefined) {
        json += "{\"id\":"
        json += asInteger(value_id_1)
      } else {
        throw new Error('"id" is required!')
      }
      const value_name_2 = obj["name"]
      if (value_name_2 !== undefined) {
        json += ",\"name\":"
        if (typeof value_name_2 !== 'string') {
          if (value_name_2 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_name_2 instanceof Date) {
            json += asDateTime(value_name_2)
          } else if (value_name_2 instanceof RegExp) {
            json += asString(value_name_2.source)
          } else {
            json += asString(value_name_2.toString())
          }
        } else {
          json += asString(value_name_2)
        }
      } else {
        throw new Error('"name" is required!')
      }
      const value_username_3 = obj["username"]
      if (value_username_3 !== undefined) {
        json += ",\"username\":"
        if (typeof value_username_3 !== 'string') {
          if (value_username_3 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_username_3 instanceof Date) {
            json += asDateTime(value_username_3)
          } else if (value_username_3 instanceof RegExp) {
            json += asString(value_username_3.source)
          } else {
            json += asString(value_username_3.toString())
          }
        } else {
          json += asString(value_username_3)
        }
      } else {
        throw new Error('"username" is required!')
      }
      const value_profile_link_4 = obj["profile_link"]
      if (value_profile_link_4 !== undefined) {
        json += ",\"profile_link\":"
          if (value_profile_link_4 === null) {
            json += JSON_STR_NULL
          }
          else if(
            typeof value_profile_link_4 === "string" ||
            value_profile_link_4 === null ||
            value_profile_link_4 instanceof Date ||
            value_profile_link_4 instanceof RegExp ||
            (
              typeof value_profile_link_4 === "object" &&
              typeof value_profile_link_4.toString === "function" &&
              value_profile_link_4.toString !== Object.prototype.toString
            )
          ) {
        if (typeof value_profile_link_4 !== 'string') {
          if (value_profile_link_4 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_profile_link_4 instanceof Date) {
            json += asDateTime(value_profile_link_4)
          } else if (value_profile_link_4 instanceof RegExp) {
            json += asString(value_profile_link_4.source)
          } else {
            json += asString(value_profile_link_4.toString())
          }
        } else {
          json += asString(value_profile_link_4)
        }
          }
    else throw new TypeError("The value of '#/items/properties/profile_link' does not match schema definition.")
      }
      const value_private_5 = obj["private"]
      if (value_private_5 !== undefined) {
        json += ",\"private\":"
        json += asBoolean(value_private_5)
      }
return json + JSON_STR_END_OBJECT
      }
    function anonymous0 (obj) {
      // "#"
      let json = ''
    if (obj === null) return JSON_STR_EMPTY_ARRAY
    if (!Array.isArray(obj)) {
      throw new TypeError("The value of '#' does not match schema definition.")
    }
    const arrayLength = obj.length
    json += JSON_STR_BEGIN_ARRAY
      if (arrayLength > 0) {
        const value = obj[0]
        json += anonymous1(value)
        for (let i = 1; i < arrayLength; i++) {
          json += JSON_STR_COMMA
          const value = obj[i]
          json += anonymous1(value)
        }
      }
      return json + JSON_STR_END_ARRAY
    }
    const main = anonymous0
    return main
}(validator, serializer)
return module.exports; })();

export const serializers = {
  register: { 201: serialize0, 400: serialize1, 403: serialize1, 409: serialize1, 413: serialize1, 415: serialize1, 429: serialize1, 500: serialize1, 503: serialize1 },
  login: { 200: serialize2, 400: serialize1, 401: serialize1, 403: serialize1, 413: serialize1, 415: serialize1, 429: serialize1, 500: serialize1, 503: serialize1 },
  getCurrentAccount: { 200: serialize3, 400: serialize1, 401: serialize1, 429: serialize1, 500: serialize1, 503: serialize1 },
  verifySession: { 200: serialize3, 400: serialize1, 401: serialize1, 429: serialize1, 500: serialize1, 503: serialize1 },
  logout: { 200: serialize4, 400: serialize1, 401: serialize1, 403: serialize1, 429: serialize1, 500: serialize1, 503: serialize1 },
  listSessions: { 200: serialize5, 400: serialize1, 401: serialize1, 429: serialize1, 500: serialize1, 503: serialize1 },
  deleteOtherSessions: { 200: serialize4, 400: serialize1, 401: serialize1, 403: serialize1, 429: serialize1, 500: serialize1, 503: serialize1 },
  deleteSession: { 200: serialize4, 400: serialize1, 401: serialize1, 403: serialize1, 404: serialize1, 429: serialize1, 500: serialize1, 503: serialize1 },
  getOwnProfile: { 200: serialize6, 400: serialize1, 401: serialize1, 429: serialize1, 500: serialize1, 503: serialize1 },
  updateProfile: { 200: serialize6, 400: serialize1, 401: serialize1, 403: serialize1, 409: serialize1, 413: serialize1, 415: serialize1, 429: serialize1, 500: serialize1, 503: serialize1 },
  deleteAccount: { 200: serialize4, 400: serialize1, 401: serialize1, 403: serialize1, 413: serialize1, 415: serialize1, 429: serialize1, 500: serialize1, 503: serialize1 },
  getProfile: { 200: serialize7, 400: serialize1, 401: serialize1, 404: serialize1, 429: serialize1, 500: serialize1, 503: serialize1 },
  getProfileImage: { 400: serialize1, 401: serialize1, 404: serialize1, 429: serialize1, 500: serialize1, 503: serialize1 },
  listPosts: { 200: serialize8, 400: serialize1, 401: serialize1, 429: serialize1, 500: serialize1, 503: serialize1 },
  listOwnPosts: { 200: serialize8, 400: serialize1, 401: serialize1, 429: serialize1, 500: serialize1, 503: serialize1 },
  getPost: { 200: serialize9, 400: serialize1, 401: serialize1, 404: serialize1, 429: serialize1, 500: serialize1, 503: serialize1 },
  getPostImage: { 400: serialize1, 401: serialize1, 404: serialize1, 429: serialize1, 500: serialize1, 503: serialize1 },
  createPost: { 201: serialize10, 400: serialize1, 401: serialize1, 403: serialize1, 409: serialize1, 413: serialize1, 415: serialize1, 422: serialize1, 429: serialize1, 500: serialize1, 503: serialize1 },
  editPost: { 200: serialize10, 400: serialize1, 401: serialize1, 403: serialize1, 404: serialize1, 413: serialize1, 415: serialize1, 429: serialize1, 500: serialize1, 503: serialize1 },
  deletePost: { 200: serialize4, 400: serialize1, 401: serialize1, 403: serialize1, 404: serialize1, 429: serialize1, 500: serialize1, 503: serialize1 },
  likePost: { 200: serialize4, 400: serialize1, 401: serialize1, 403: serialize1, 404: serialize1, 429: serialize1, 500: serialize1, 503: serialize1 },
  unlikePost: { 200: serialize4, 400: serialize1, 401: serialize1, 403: serialize1, 404: serialize1, 429: serialize1, 500: serialize1, 503: serialize1 },
  listFriends: { 200: serialize11, 400: serialize1, 401: serialize1, 429: serialize1, 500: serialize1, 503: serialize1 },
  listFriendRequests: { 200: serialize12, 400: serialize1, 401: serialize1, 429: serialize1, 500: serialize1, 503: serialize1 },
  sendFriendRequest: { 200: serialize4, 400: serialize1, 401: serialize1, 403: serialize1, 404: serialize1, 409: serialize1, 429: serialize1, 500: serialize1, 503: serialize1 },
  acceptFriendRequest: { 200: serialize4, 400: serialize1, 401: serialize1, 403: serialize1, 404: serialize1, 429: serialize1, 500: serialize1, 503: serialize1 },
  declineFriendRequest: { 200: serialize4, 400: serialize1, 401: serialize1, 403: serialize1, 404: serialize1, 429: serialize1, 500: serialize1, 503: serialize1 },
  cancelFriendRequest: { 200: serialize4, 400: serialize1, 401: serialize1, 403: serialize1, 404: serialize1, 429: serialize1, 500: serialize1, 503: serialize1 },
  removeFriend: { 200: serialize4, 400: serialize1, 401: serialize1, 403: serialize1, 404: serialize1, 429: serialize1, 500: serialize1, 503: serialize1 },
  createRelationship: { 200: serialize4, 400: serialize1, 401: serialize1, 403: serialize1, 404: serialize1, 409: serialize1, 429: serialize1, 500: serialize1, 503: serialize1 },
};
