// Generated from openapi.yaml by `npm run generate`. Do not edit.

var __create = Object.create;
var __defProp = Object.defineProperty;
var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
var __getOwnPropNames = Object.getOwnPropertyNames;
var __getProtoOf = Object.getPrototypeOf;
var __hasOwnProp = Object.prototype.hasOwnProperty;
var __commonJS = (cb, mod) => function __require() {
  try {
    return mod || (0, cb[__getOwnPropNames(cb)[0]])((mod = { exports: {} }).exports, mod), mod.exports;
  } catch (e) {
    throw mod = 0, e;
  }
};
var __copyProps = (to, from, except, desc) => {
  if (from && typeof from === "object" || typeof from === "function") {
    for (let key of __getOwnPropNames(from))
      if (!__hasOwnProp.call(to, key) && key !== except)
        __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
  }
  return to;
};
var __toESM = (mod, isNodeMode, target) => (target = mod != null ? __create(__getProtoOf(mod)) : {}, __copyProps(
  // If the importer is in node compatibility mode or this is not an ESM
  // file that has been converted to a CommonJS file using a Babel-
  // compatible transform (i.e. "__esModule" has not been set), then set
  // "default" to the CommonJS "module.exports" for node compatibility.
  isNodeMode || !mod || !mod.__esModule ? __defProp(target, "default", { value: mod, enumerable: true }) : target,
  mod
));

// node_modules/fast-json-stringify/lib/v8.js
var require_v8 = __commonJS({
  "node_modules/fast-json-stringify/lib/v8.js"(exports, module) {
    "use strict";
    var [v8Major, v8Minor] = String(process.versions.v8).split(".").map(Number);
    module.exports = {
      HAS_FAST_JSON_STRINGIFY: v8Major * 100 + v8Minor >= 1308
    };
  }
});

// node_modules/fast-json-stringify/lib/serializer.js
var require_serializer = __commonJS({
  "node_modules/fast-json-stringify/lib/serializer.js"(exports, module) {
    "use strict";
    var STR_ESCAPE = /[\u0000-\u001f\u0022\u005c\ud800-\udfff]/;
    var { HAS_FAST_JSON_STRINGIFY } = require_v8();
    var NATIVE_STRING_ESCAPE_MIN_LENGTH = 8;
    function escapeStringNative(str) {
      return str.length < NATIVE_STRING_ESCAPE_MIN_LENGTH ? escapeStringLoop(str) : JSON.stringify(str);
    }
    var TWO_DIGITS = new Array(100);
    for (let i = 0; i < 100; i++) {
      TWO_DIGITS[i] = (i < 10 ? "0" : "") + i;
    }
    function asYear(year) {
      if (year >= 1e3) return year <= 9999 ? "" + year : null;
      if (year >= 100) return "0" + year;
      if (year >= 10) return "00" + year;
      if (year >= 0) return "000" + year;
      return null;
    }
    function escapeStringLoop(str) {
      const len = str.length;
      if (len === 0) {
        return '""';
      } else if (len < 42) {
        let result = "";
        let last = -1;
        let point = 255;
        for (let i = 0; i < len; i++) {
          point = str.charCodeAt(i);
          if (point === 34 || // '"'
          point === 92) {
            last === -1 && (last = 0);
            result += str.slice(last, i) + "\\";
            last = i;
          } else if (point < 32 || point >= 55296 && point <= 57343) {
            return JSON.stringify(str);
          }
        }
        return last === -1 && '"' + str + '"' || '"' + result + str.slice(last) + '"';
      } else if (len < 5e3 && STR_ESCAPE.test(str) === false) {
        return '"' + str + '"';
      } else {
        return JSON.stringify(str);
      }
    }
    var asString = [escapeStringLoop, escapeStringNative][Number(HAS_FAST_JSON_STRINGIFY)];
    module.exports = class Serializer {
      static escapeStringLoop = escapeStringLoop;
      static escapeStringNative = escapeStringNative;
      constructor(options) {
        switch (options && options.rounding) {
          case "floor":
            this.parseInteger = Math.floor;
            break;
          case "ceil":
            this.parseInteger = Math.ceil;
            break;
          case "round":
            this.parseInteger = Math.round;
            break;
          case "trunc":
          default:
            this.parseInteger = Math.trunc;
            break;
        }
        this._options = options;
      }
      asInteger(i) {
        if (Number.isInteger(i)) {
          return "" + i;
        } else if (typeof i === "bigint") {
          return i.toString();
        }
        const integer = this.parseInteger(i);
        if (integer === Infinity || integer === -Infinity || integer !== integer) {
          throw new Error(`The value "${i}" cannot be converted to an integer.`);
        }
        return "" + integer;
      }
      asNumber(i) {
        const num = Number(i);
        if (num !== num) {
          throw new Error(`The value "${i}" cannot be converted to a number.`);
        } else if (num === Infinity || num === -Infinity) {
          return "null";
        } else {
          return "" + num;
        }
      }
      asBoolean(bool) {
        return bool && "true" || "false";
      }
      asDateTime(date) {
        if (date === null) return '""';
        if (date instanceof Date) {
          const year = asYear(date.getUTCFullYear());
          if (year === null) return '"' + date.toISOString() + '"';
          const ms = date.getUTCMilliseconds();
          return '"' + year + "-" + TWO_DIGITS[date.getUTCMonth() + 1] + "-" + TWO_DIGITS[date.getUTCDate()] + "T" + TWO_DIGITS[date.getUTCHours()] + ":" + TWO_DIGITS[date.getUTCMinutes()] + ":" + TWO_DIGITS[date.getUTCSeconds()] + "." + (ms < 10 ? "00" : ms < 100 ? "0" : "") + ms + 'Z"';
        }
        if (typeof date === "string") {
          return asString(date);
        }
        throw new Error(`The value "${date}" cannot be converted to a date-time.`);
      }
      asDate(date) {
        if (date === null) return '""';
        if (date instanceof Date) {
          const year = asYear(date.getFullYear());
          if (year === null) {
            return '"' + new Date(date.getTime() - date.getTimezoneOffset() * 6e4).toISOString().slice(0, 10) + '"';
          }
          return '"' + year + "-" + TWO_DIGITS[date.getMonth() + 1] + "-" + TWO_DIGITS[date.getDate()] + '"';
        }
        if (typeof date === "string") {
          return asString(date);
        }
        throw new Error(`The value "${date}" cannot be converted to a date.`);
      }
      asTime(date) {
        if (date === null) return '""';
        if (date instanceof Date) {
          const hours = TWO_DIGITS[date.getHours()];
          if (hours === void 0) {
            return '"' + new Date(date.getTime() - date.getTimezoneOffset() * 6e4).toISOString().slice(11, 19) + '"';
          }
          return '"' + hours + ":" + TWO_DIGITS[date.getMinutes()] + ":" + TWO_DIGITS[date.getSeconds()] + '"';
        }
        if (typeof date === "string") {
          return asString(date);
        }
        throw new Error(`The value "${date}" cannot be converted to a time.`);
      }
      asString(str) {
        return asString(str);
      }
      asUnsafeString(str) {
        return '"' + str + '"';
      }
      // Copy primitive strings once, ignoring array/prototype toJSON hooks. On a
      // miss, serialize the captured prefix and coerce the remaining items in order,
      // matching buildSingleTypeSerializer without rereading getters.
      asPlainStringArray(arr, len = arr.length) {
        const copy = new Array(len);
        if (Array.prototype.toJSON !== void 0) Object.setPrototypeOf(copy, null);
        for (let i = 0; i < len; i++) {
          const value = arr[i];
          if (typeof value !== "string") {
            copy.length = i;
            let json = JSON.stringify(copy).slice(0, -1);
            for (let j = i; j < len; j++) {
              const item = j === i ? value : arr[j];
              if (j > 0) json += ",";
              if (typeof item === "string") {
                json += asString(item);
              } else if (item === null) {
                json += '""';
              } else if (item instanceof Date) {
                json += '"' + item.toISOString() + '"';
              } else if (item instanceof RegExp) {
                json += asString(item.source);
              } else {
                json += asString(item.toString());
              }
            }
            return json + "]";
          }
          copy[i] = value;
        }
        return JSON.stringify(copy);
      }
      getState() {
        return this._options;
      }
      static restoreFromState(state) {
        return new Serializer(state);
      }
    };
  }
});

// generated:generated:code
var require_generated_code = __commonJS({
  "generated:generated:code"(exports) {
    exports.serialize0 = (() => {
      const module2 = {};
      "use strict";
      const Serializer = require_serializer();
      const serializerState = { "mode": "standalone" };
      const serializer = Serializer.restoreFromState(serializerState);
      const validator = null;
      module2.exports = (function anonymous(validator2, serializer2) {
        const {
          asString,
          asNumber,
          asBoolean,
          asDateTime,
          asDate,
          asTime,
          asUnsafeString,
          asPlainStringArray
        } = serializer2;
        const asInteger = serializer2.asInteger.bind(serializer2);
        const JSON_STR_BEGIN_OBJECT = "{";
        const JSON_STR_END_OBJECT = "}";
        const JSON_STR_BEGIN_ARRAY = "[";
        const JSON_STR_END_ARRAY = "]";
        const JSON_STR_COMMA = ",";
        const JSON_STR_COLONS = ":";
        const JSON_STR_QUOTE = '"';
        const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT;
        const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY;
        const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE;
        const JSON_STR_NULL = "null";
        function anonymous0(input) {
          const obj = input && typeof input.toJSON === "function" ? input.toJSON() : input;
          if (obj === null) return JSON_STR_EMPTY_OBJECT;
          let json = "";
          const value_id_1 = obj["id"];
          if (value_id_1 !== void 0) {
            json += '{"id":';
            json += asInteger(value_id_1);
          } else {
            throw new Error('"id" is required!');
          }
          return json + JSON_STR_END_OBJECT;
        }
        const main = anonymous0;
        return main;
      })(validator, serializer);
      return module2.exports;
    })();
    exports.serialize1 = (() => {
      const module2 = {};
      "use strict";
      const Serializer = require_serializer();
      const serializerState = { "mode": "standalone" };
      const serializer = Serializer.restoreFromState(serializerState);
      const validator = null;
      module2.exports = (function anonymous(validator2, serializer2) {
        const {
          asString,
          asNumber,
          asBoolean,
          asDateTime,
          asDate,
          asTime,
          asUnsafeString,
          asPlainStringArray
        } = serializer2;
        const asInteger = serializer2.asInteger.bind(serializer2);
        const JSON_STR_BEGIN_OBJECT = "{";
        const JSON_STR_END_OBJECT = "}";
        const JSON_STR_BEGIN_ARRAY = "[";
        const JSON_STR_END_ARRAY = "]";
        const JSON_STR_COMMA = ",";
        const JSON_STR_COLONS = ":";
        const JSON_STR_QUOTE = '"';
        const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT;
        const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY;
        const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE;
        const JSON_STR_NULL = "null";
        function anonymous2(input) {
          const obj = input && typeof input.toJSON === "function" ? input.toJSON() : input;
          if (obj === null) return JSON_STR_EMPTY_OBJECT;
          let json = "";
          const value_in_4 = obj["in"];
          if (value_in_4 !== void 0) {
            json += '{"in":';
            if (typeof value_in_4 !== "string") {
              if (value_in_4 === null) {
                json += JSON_STR_EMPTY_STRING;
              } else if (value_in_4 instanceof Date) {
                json += JSON_STR_QUOTE + value_in_4.toISOString() + JSON_STR_QUOTE;
              } else if (value_in_4 instanceof RegExp) {
                json += asString(value_in_4.source);
              } else {
                json += asString(value_in_4.toString());
              }
            } else {
              json += asString(value_in_4);
            }
          } else {
            throw new Error('"in" is required!');
          }
          const value_field_5 = obj["field"];
          if (value_field_5 !== void 0) {
            json += ',"field":';
            if (typeof value_field_5 !== "string") {
              if (value_field_5 === null) {
                json += JSON_STR_EMPTY_STRING;
              } else if (value_field_5 instanceof Date) {
                json += JSON_STR_QUOTE + value_field_5.toISOString() + JSON_STR_QUOTE;
              } else if (value_field_5 instanceof RegExp) {
                json += asString(value_field_5.source);
              } else {
                json += asString(value_field_5.toString());
              }
            } else {
              json += asString(value_field_5);
            }
          } else {
            throw new Error('"field" is required!');
          }
          const value_message_6 = obj["message"];
          if (value_message_6 !== void 0) {
            json += ',"message":';
            if (typeof value_message_6 !== "string") {
              if (value_message_6 === null) {
                json += JSON_STR_EMPTY_STRING;
              } else if (value_message_6 instanceof Date) {
                json += JSON_STR_QUOTE + value_message_6.toISOString() + JSON_STR_QUOTE;
              } else if (value_message_6 instanceof RegExp) {
                json += asString(value_message_6.source);
              } else {
                json += asString(value_message_6.toString());
              }
            } else {
              json += asString(value_message_6);
            }
          } else {
            throw new Error('"message" is required!');
          }
          return json + JSON_STR_END_OBJECT;
        }
        function anonymous1(obj) {
          let json = "";
          if (obj === null) return JSON_STR_EMPTY_ARRAY;
          if (!Array.isArray(obj)) {
            throw new TypeError("The value of '#/properties/errors' does not match schema definition.");
          }
          const arrayLength = obj.length;
          json += JSON_STR_BEGIN_ARRAY;
          if (arrayLength > 0) {
            const value = obj[0];
            json += anonymous2(value);
            for (let i = 1; i < arrayLength; i++) {
              json += JSON_STR_COMMA;
              const value2 = obj[i];
              json += anonymous2(value2);
            }
          }
          return json + JSON_STR_END_ARRAY;
        }
        function anonymous0(input) {
          const obj = input && typeof input.toJSON === "function" ? input.toJSON() : input;
          if (obj === null) return JSON_STR_EMPTY_OBJECT;
          let json = "";
          const value_message_1 = obj["message"];
          if (value_message_1 !== void 0) {
            json += '{"message":';
            if (typeof value_message_1 !== "string") {
              if (value_message_1 === null) {
                json += JSON_STR_EMPTY_STRING;
              } else if (value_message_1 instanceof Date) {
                json += JSON_STR_QUOTE + value_message_1.toISOString() + JSON_STR_QUOTE;
              } else if (value_message_1 instanceof RegExp) {
                json += asString(value_message_1.source);
              } else {
                json += asString(value_message_1.toString());
              }
            } else {
              json += asString(value_message_1);
            }
          } else {
            throw new Error('"message" is required!');
          }
          const value_errors_2 = obj["errors"];
          if (value_errors_2 !== void 0) {
            json += ',"errors":';
            json += anonymous1(value_errors_2);
          }
          return json + JSON_STR_END_OBJECT;
        }
        const main = anonymous0;
        return main;
      })(validator, serializer);
      return module2.exports;
    })();
    exports.serialize2 = (() => {
      const module2 = {};
      "use strict";
      const Serializer = require_serializer();
      const serializerState = { "mode": "standalone" };
      const serializer = Serializer.restoreFromState(serializerState);
      const validator = null;
      module2.exports = (function anonymous(validator2, serializer2) {
        const {
          asString,
          asNumber,
          asBoolean,
          asDateTime,
          asDate,
          asTime,
          asUnsafeString,
          asPlainStringArray
        } = serializer2;
        const asInteger = serializer2.asInteger.bind(serializer2);
        const JSON_STR_BEGIN_OBJECT = "{";
        const JSON_STR_END_OBJECT = "}";
        const JSON_STR_BEGIN_ARRAY = "[";
        const JSON_STR_END_ARRAY = "]";
        const JSON_STR_COMMA = ",";
        const JSON_STR_COLONS = ":";
        const JSON_STR_QUOTE = '"';
        const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT;
        const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY;
        const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE;
        const JSON_STR_NULL = "null";
        function anonymous0(input) {
          const obj = input && typeof input.toJSON === "function" ? input.toJSON() : input;
          if (obj === null) return JSON_STR_EMPTY_OBJECT;
          let json = "";
          const value_id_1 = obj["id"];
          if (value_id_1 !== void 0) {
            json += '{"id":';
            json += asInteger(value_id_1);
          } else {
            throw new Error('"id" is required!');
          }
          const value_token_2 = obj["token"];
          if (value_token_2 !== void 0) {
            json += ',"token":';
            if (typeof value_token_2 !== "string") {
              if (value_token_2 === null) {
                json += JSON_STR_EMPTY_STRING;
              } else if (value_token_2 instanceof Date) {
                json += JSON_STR_QUOTE + value_token_2.toISOString() + JSON_STR_QUOTE;
              } else if (value_token_2 instanceof RegExp) {
                json += asString(value_token_2.source);
              } else {
                json += asString(value_token_2.toString());
              }
            } else {
              json += asString(value_token_2);
            }
          } else {
            throw new Error('"token" is required!');
          }
          const value_expires_at_3 = obj["expires_at"];
          if (value_expires_at_3 !== void 0) {
            json += ',"expires_at":';
            json += asDateTime(value_expires_at_3);
          } else {
            throw new Error('"expires_at" is required!');
          }
          return json + JSON_STR_END_OBJECT;
        }
        const main = anonymous0;
        return main;
      })(validator, serializer);
      return module2.exports;
    })();
    exports.serialize3 = (() => {
      const module2 = {};
      "use strict";
      const Serializer = require_serializer();
      const serializerState = { "mode": "standalone" };
      const serializer = Serializer.restoreFromState(serializerState);
      const validator = null;
      module2.exports = (function anonymous(validator2, serializer2) {
        const {
          asString,
          asNumber,
          asBoolean,
          asDateTime,
          asDate,
          asTime,
          asUnsafeString,
          asPlainStringArray
        } = serializer2;
        const asInteger = serializer2.asInteger.bind(serializer2);
        const JSON_STR_BEGIN_OBJECT = "{";
        const JSON_STR_END_OBJECT = "}";
        const JSON_STR_BEGIN_ARRAY = "[";
        const JSON_STR_END_ARRAY = "]";
        const JSON_STR_COMMA = ",";
        const JSON_STR_COLONS = ":";
        const JSON_STR_QUOTE = '"';
        const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT;
        const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY;
        const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE;
        const JSON_STR_NULL = "null";
        function anonymous0(input) {
          const obj = input && typeof input.toJSON === "function" ? input.toJSON() : input;
          if (obj === null) return JSON_STR_EMPTY_OBJECT;
          let json = "";
          const value_id_1 = obj["id"];
          if (value_id_1 !== void 0) {
            json += '{"id":';
            json += asInteger(value_id_1);
          } else {
            throw new Error('"id" is required!');
          }
          const value_name_2 = obj["name"];
          if (value_name_2 !== void 0) {
            json += ',"name":';
            if (typeof value_name_2 !== "string") {
              if (value_name_2 === null) {
                json += JSON_STR_EMPTY_STRING;
              } else if (value_name_2 instanceof Date) {
                json += JSON_STR_QUOTE + value_name_2.toISOString() + JSON_STR_QUOTE;
              } else if (value_name_2 instanceof RegExp) {
                json += asString(value_name_2.source);
              } else {
                json += asString(value_name_2.toString());
              }
            } else {
              json += asString(value_name_2);
            }
          } else {
            throw new Error('"name" is required!');
          }
          const value_username_3 = obj["username"];
          if (value_username_3 !== void 0) {
            json += ',"username":';
            if (typeof value_username_3 !== "string") {
              if (value_username_3 === null) {
                json += JSON_STR_EMPTY_STRING;
              } else if (value_username_3 instanceof Date) {
                json += JSON_STR_QUOTE + value_username_3.toISOString() + JSON_STR_QUOTE;
              } else if (value_username_3 instanceof RegExp) {
                json += asString(value_username_3.source);
              } else {
                json += asString(value_username_3.toString());
              }
            } else {
              json += asString(value_username_3);
            }
          } else {
            throw new Error('"username" is required!');
          }
          const value_email_4 = obj["email"];
          if (value_email_4 !== void 0) {
            json += ',"email":';
            if (typeof value_email_4 !== "string") {
              if (value_email_4 === null) {
                json += JSON_STR_EMPTY_STRING;
              } else if (value_email_4 instanceof Date) {
                json += JSON_STR_QUOTE + value_email_4.toISOString() + JSON_STR_QUOTE;
              } else if (value_email_4 instanceof RegExp) {
                json += asString(value_email_4.source);
              } else {
                json += asString(value_email_4.toString());
              }
            } else {
              json += asString(value_email_4);
            }
          } else {
            throw new Error('"email" is required!');
          }
          return json + JSON_STR_END_OBJECT;
        }
        const main = anonymous0;
        return main;
      })(validator, serializer);
      return module2.exports;
    })();
    exports.serialize4 = (() => {
      const module2 = {};
      "use strict";
      const Serializer = require_serializer();
      const serializerState = { "mode": "standalone" };
      const serializer = Serializer.restoreFromState(serializerState);
      const validator = null;
      module2.exports = (function anonymous(validator2, serializer2) {
        const {
          asString,
          asNumber,
          asBoolean,
          asDateTime,
          asDate,
          asTime,
          asUnsafeString,
          asPlainStringArray
        } = serializer2;
        const asInteger = serializer2.asInteger.bind(serializer2);
        const JSON_STR_BEGIN_OBJECT = "{";
        const JSON_STR_END_OBJECT = "}";
        const JSON_STR_BEGIN_ARRAY = "[";
        const JSON_STR_END_ARRAY = "]";
        const JSON_STR_COMMA = ",";
        const JSON_STR_COLONS = ":";
        const JSON_STR_QUOTE = '"';
        const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT;
        const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY;
        const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE;
        const JSON_STR_NULL = "null";
        function anonymous0(input) {
          const obj = input && typeof input.toJSON === "function" ? input.toJSON() : input;
          if (obj === null) return JSON_STR_EMPTY_OBJECT;
          let json = "";
          const value_message_1 = obj["message"];
          if (value_message_1 !== void 0) {
            json += '{"message":';
            if (typeof value_message_1 !== "string") {
              if (value_message_1 === null) {
                json += JSON_STR_EMPTY_STRING;
              } else if (value_message_1 instanceof Date) {
                json += JSON_STR_QUOTE + value_message_1.toISOString() + JSON_STR_QUOTE;
              } else if (value_message_1 instanceof RegExp) {
                json += asString(value_message_1.source);
              } else {
                json += asString(value_message_1.toString());
              }
            } else {
              json += asString(value_message_1);
            }
          } else {
            throw new Error('"message" is required!');
          }
          return json + JSON_STR_END_OBJECT;
        }
        const main = anonymous0;
        return main;
      })(validator, serializer);
      return module2.exports;
    })();
    exports.serialize5 = (() => {
      const module2 = {};
      "use strict";
      const Serializer = require_serializer();
      const serializerState = { "mode": "standalone" };
      const serializer = Serializer.restoreFromState(serializerState);
      const validator = null;
      module2.exports = (function anonymous(validator2, serializer2) {
        const {
          asString,
          asNumber,
          asBoolean,
          asDateTime,
          asDate,
          asTime,
          asUnsafeString,
          asPlainStringArray
        } = serializer2;
        const asInteger = serializer2.asInteger.bind(serializer2);
        const JSON_STR_BEGIN_OBJECT = "{";
        const JSON_STR_END_OBJECT = "}";
        const JSON_STR_BEGIN_ARRAY = "[";
        const JSON_STR_END_ARRAY = "]";
        const JSON_STR_COMMA = ",";
        const JSON_STR_COLONS = ":";
        const JSON_STR_QUOTE = '"';
        const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT;
        const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY;
        const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE;
        const JSON_STR_NULL = "null";
        function anonymous1(input) {
          const obj = input && typeof input.toJSON === "function" ? input.toJSON() : input;
          if (obj === null) return JSON_STR_EMPTY_OBJECT;
          let json = "";
          const value_id_1 = obj["id"];
          if (value_id_1 !== void 0) {
            json += '{"id":';
            if (typeof value_id_1 !== "string") {
              if (value_id_1 === null) {
                json += JSON_STR_EMPTY_STRING;
              } else if (value_id_1 instanceof Date) {
                json += JSON_STR_QUOTE + value_id_1.toISOString() + JSON_STR_QUOTE;
              } else if (value_id_1 instanceof RegExp) {
                json += asString(value_id_1.source);
              } else {
                json += asString(value_id_1.toString());
              }
            } else {
              json += asString(value_id_1);
            }
          } else {
            throw new Error('"id" is required!');
          }
          const value_device_name_2 = obj["device_name"];
          if (value_device_name_2 !== void 0) {
            json += ',"device_name":';
            if (typeof value_device_name_2 !== "string") {
              if (value_device_name_2 === null) {
                json += JSON_STR_EMPTY_STRING;
              } else if (value_device_name_2 instanceof Date) {
                json += JSON_STR_QUOTE + value_device_name_2.toISOString() + JSON_STR_QUOTE;
              } else if (value_device_name_2 instanceof RegExp) {
                json += asString(value_device_name_2.source);
              } else {
                json += asString(value_device_name_2.toString());
              }
            } else {
              json += asString(value_device_name_2);
            }
          } else {
            throw new Error('"device_name" is required!');
          }
          const value_created_at_3 = obj["created_at"];
          if (value_created_at_3 !== void 0) {
            json += ',"created_at":';
            json += asDateTime(value_created_at_3);
          } else {
            throw new Error('"created_at" is required!');
          }
          const value_last_used_at_4 = obj["last_used_at"];
          if (value_last_used_at_4 !== void 0) {
            json += ',"last_used_at":';
            json += asDateTime(value_last_used_at_4);
          } else {
            throw new Error('"last_used_at" is required!');
          }
          const value_current_5 = obj["current"];
          if (value_current_5 !== void 0) {
            json += ',"current":';
            json += asBoolean(value_current_5);
          } else {
            throw new Error('"current" is required!');
          }
          return json + JSON_STR_END_OBJECT;
        }
        function anonymous0(obj) {
          let json = "";
          if (obj === null) return JSON_STR_EMPTY_ARRAY;
          if (!Array.isArray(obj)) {
            throw new TypeError("The value of '#' does not match schema definition.");
          }
          const arrayLength = obj.length;
          json += JSON_STR_BEGIN_ARRAY;
          if (arrayLength > 0) {
            const value = obj[0];
            json += anonymous1(value);
            for (let i = 1; i < arrayLength; i++) {
              json += JSON_STR_COMMA;
              const value2 = obj[i];
              json += anonymous1(value2);
            }
          }
          return json + JSON_STR_END_ARRAY;
        }
        const main = anonymous0;
        return main;
      })(validator, serializer);
      return module2.exports;
    })();
    exports.serialize6 = (() => {
      const module2 = {};
      "use strict";
      const Serializer = require_serializer();
      const serializerState = { "mode": "standalone" };
      const serializer = Serializer.restoreFromState(serializerState);
      const validator = null;
      module2.exports = (function anonymous(validator2, serializer2) {
        const {
          asString,
          asNumber,
          asBoolean,
          asDateTime,
          asDate,
          asTime,
          asUnsafeString,
          asPlainStringArray
        } = serializer2;
        const asInteger = serializer2.asInteger.bind(serializer2);
        const JSON_STR_BEGIN_OBJECT = "{";
        const JSON_STR_END_OBJECT = "}";
        const JSON_STR_BEGIN_ARRAY = "[";
        const JSON_STR_END_ARRAY = "]";
        const JSON_STR_COMMA = ",";
        const JSON_STR_COLONS = ":";
        const JSON_STR_QUOTE = '"';
        const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT;
        const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY;
        const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE;
        const JSON_STR_NULL = "null";
        function anonymous0(input) {
          const obj = input && typeof input.toJSON === "function" ? input.toJSON() : input;
          if (obj === null) return JSON_STR_EMPTY_OBJECT;
          let json = "";
          const value_id_1 = obj["id"];
          if (value_id_1 !== void 0) {
            json += '{"id":';
            json += asInteger(value_id_1);
          } else {
            throw new Error('"id" is required!');
          }
          const value_name_2 = obj["name"];
          if (value_name_2 !== void 0) {
            json += ',"name":';
            if (typeof value_name_2 !== "string") {
              if (value_name_2 === null) {
                json += JSON_STR_EMPTY_STRING;
              } else if (value_name_2 instanceof Date) {
                json += JSON_STR_QUOTE + value_name_2.toISOString() + JSON_STR_QUOTE;
              } else if (value_name_2 instanceof RegExp) {
                json += asString(value_name_2.source);
              } else {
                json += asString(value_name_2.toString());
              }
            } else {
              json += asString(value_name_2);
            }
          } else {
            throw new Error('"name" is required!');
          }
          const value_username_3 = obj["username"];
          if (value_username_3 !== void 0) {
            json += ',"username":';
            if (typeof value_username_3 !== "string") {
              if (value_username_3 === null) {
                json += JSON_STR_EMPTY_STRING;
              } else if (value_username_3 instanceof Date) {
                json += JSON_STR_QUOTE + value_username_3.toISOString() + JSON_STR_QUOTE;
              } else if (value_username_3 instanceof RegExp) {
                json += asString(value_username_3.source);
              } else {
                json += asString(value_username_3.toString());
              }
            } else {
              json += asString(value_username_3);
            }
          } else {
            throw new Error('"username" is required!');
          }
          const value_profile_link_4 = obj["profile_link"];
          if (value_profile_link_4 !== void 0) {
            json += ',"profile_link":';
            if (value_profile_link_4 === null) {
              json += JSON_STR_NULL;
            } else if (typeof value_profile_link_4 === "string" || value_profile_link_4 === null || value_profile_link_4 instanceof Date || value_profile_link_4 instanceof RegExp || typeof value_profile_link_4 === "object" && typeof value_profile_link_4.toString === "function" && value_profile_link_4.toString !== Object.prototype.toString) {
              if (typeof value_profile_link_4 !== "string") {
                if (value_profile_link_4 === null) {
                  json += JSON_STR_EMPTY_STRING;
                } else if (value_profile_link_4 instanceof Date) {
                  json += JSON_STR_QUOTE + value_profile_link_4.toISOString() + JSON_STR_QUOTE;
                } else if (value_profile_link_4 instanceof RegExp) {
                  json += asString(value_profile_link_4.source);
                } else {
                  json += asString(value_profile_link_4.toString());
                }
              } else {
                json += asString(value_profile_link_4);
              }
            } else throw new TypeError("The value of '#/properties/profile_link' does not match schema definition.");
          } else {
            throw new Error('"profile_link" is required!');
          }
          const value_private_5 = obj["private"];
          if (value_private_5 !== void 0) {
            json += ',"private":';
            json += asBoolean(value_private_5);
          } else {
            throw new Error('"private" is required!');
          }
          return json + JSON_STR_END_OBJECT;
        }
        const main = anonymous0;
        return main;
      })(validator, serializer);
      return module2.exports;
    })();
    exports.serialize7 = (() => {
      const module2 = {};
      "use strict";
      const Serializer = require_serializer();
      const serializerState = { "mode": "standalone" };
      const serializer = Serializer.restoreFromState(serializerState);
      const validator = null;
      module2.exports = (function anonymous(validator2, serializer2) {
        const {
          asString,
          asNumber,
          asBoolean,
          asDateTime,
          asDate,
          asTime,
          asUnsafeString,
          asPlainStringArray
        } = serializer2;
        const asInteger = serializer2.asInteger.bind(serializer2);
        const JSON_STR_BEGIN_OBJECT = "{";
        const JSON_STR_END_OBJECT = "}";
        const JSON_STR_BEGIN_ARRAY = "[";
        const JSON_STR_END_ARRAY = "]";
        const JSON_STR_COMMA = ",";
        const JSON_STR_COLONS = ":";
        const JSON_STR_QUOTE = '"';
        const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT;
        const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY;
        const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE;
        const JSON_STR_NULL = "null";
        function anonymous0(input) {
          const obj = input && typeof input.toJSON === "function" ? input.toJSON() : input;
          if (obj === null) return JSON_STR_EMPTY_OBJECT;
          let json = "";
          const value_id_1 = obj["id"];
          if (value_id_1 !== void 0) {
            json += '{"id":';
            json += asInteger(value_id_1);
          } else {
            throw new Error('"id" is required!');
          }
          const value_name_2 = obj["name"];
          if (value_name_2 !== void 0) {
            json += ',"name":';
            if (typeof value_name_2 !== "string") {
              if (value_name_2 === null) {
                json += JSON_STR_EMPTY_STRING;
              } else if (value_name_2 instanceof Date) {
                json += JSON_STR_QUOTE + value_name_2.toISOString() + JSON_STR_QUOTE;
              } else if (value_name_2 instanceof RegExp) {
                json += asString(value_name_2.source);
              } else {
                json += asString(value_name_2.toString());
              }
            } else {
              json += asString(value_name_2);
            }
          } else {
            throw new Error('"name" is required!');
          }
          const value_username_3 = obj["username"];
          if (value_username_3 !== void 0) {
            json += ',"username":';
            if (typeof value_username_3 !== "string") {
              if (value_username_3 === null) {
                json += JSON_STR_EMPTY_STRING;
              } else if (value_username_3 instanceof Date) {
                json += JSON_STR_QUOTE + value_username_3.toISOString() + JSON_STR_QUOTE;
              } else if (value_username_3 instanceof RegExp) {
                json += asString(value_username_3.source);
              } else {
                json += asString(value_username_3.toString());
              }
            } else {
              json += asString(value_username_3);
            }
          } else {
            throw new Error('"username" is required!');
          }
          const value_profile_link_4 = obj["profile_link"];
          if (value_profile_link_4 !== void 0) {
            json += ',"profile_link":';
            if (value_profile_link_4 === null) {
              json += JSON_STR_NULL;
            } else if (typeof value_profile_link_4 === "string" || value_profile_link_4 === null || value_profile_link_4 instanceof Date || value_profile_link_4 instanceof RegExp || typeof value_profile_link_4 === "object" && typeof value_profile_link_4.toString === "function" && value_profile_link_4.toString !== Object.prototype.toString) {
              if (typeof value_profile_link_4 !== "string") {
                if (value_profile_link_4 === null) {
                  json += JSON_STR_EMPTY_STRING;
                } else if (value_profile_link_4 instanceof Date) {
                  json += JSON_STR_QUOTE + value_profile_link_4.toISOString() + JSON_STR_QUOTE;
                } else if (value_profile_link_4 instanceof RegExp) {
                  json += asString(value_profile_link_4.source);
                } else {
                  json += asString(value_profile_link_4.toString());
                }
              } else {
                json += asString(value_profile_link_4);
              }
            } else throw new TypeError("The value of '#/properties/profile_link' does not match schema definition.");
          }
          const value_private_5 = obj["private"];
          if (value_private_5 !== void 0) {
            json += ',"private":';
            json += asBoolean(value_private_5);
          }
          return json + JSON_STR_END_OBJECT;
        }
        const main = anonymous0;
        return main;
      })(validator, serializer);
      return module2.exports;
    })();
    exports.serialize8 = (() => {
      const module2 = {};
      "use strict";
      const Serializer = require_serializer();
      const serializerState = { "mode": "standalone" };
      const serializer = Serializer.restoreFromState(serializerState);
      const validator = null;
      module2.exports = (function anonymous(validator2, serializer2) {
        const {
          asString,
          asNumber,
          asBoolean,
          asDateTime,
          asDate,
          asTime,
          asUnsafeString,
          asPlainStringArray
        } = serializer2;
        const asInteger = serializer2.asInteger.bind(serializer2);
        const JSON_STR_BEGIN_OBJECT = "{";
        const JSON_STR_END_OBJECT = "}";
        const JSON_STR_BEGIN_ARRAY = "[";
        const JSON_STR_END_ARRAY = "]";
        const JSON_STR_COMMA = ",";
        const JSON_STR_COLONS = ":";
        const JSON_STR_QUOTE = '"';
        const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT;
        const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY;
        const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE;
        const JSON_STR_NULL = "null";
        function anonymous1(input) {
          const obj = input && typeof input.toJSON === "function" ? input.toJSON() : input;
          if (obj === null) return JSON_STR_EMPTY_OBJECT;
          let json = "";
          const value_id_1 = obj["id"];
          if (value_id_1 !== void 0) {
            json += '{"id":';
            json += asInteger(value_id_1);
          } else {
            throw new Error('"id" is required!');
          }
          const value_title_2 = obj["title"];
          if (value_title_2 !== void 0) {
            json += ',"title":';
            if (typeof value_title_2 !== "string") {
              if (value_title_2 === null) {
                json += JSON_STR_EMPTY_STRING;
              } else if (value_title_2 instanceof Date) {
                json += JSON_STR_QUOTE + value_title_2.toISOString() + JSON_STR_QUOTE;
              } else if (value_title_2 instanceof RegExp) {
                json += asString(value_title_2.source);
              } else {
                json += asString(value_title_2.toString());
              }
            } else {
              json += asString(value_title_2);
            }
          } else {
            throw new Error('"title" is required!');
          }
          const value_text_3 = obj["text"];
          if (value_text_3 !== void 0) {
            json += ',"text":';
            if (typeof value_text_3 !== "string") {
              if (value_text_3 === null) {
                json += JSON_STR_EMPTY_STRING;
              } else if (value_text_3 instanceof Date) {
                json += JSON_STR_QUOTE + value_text_3.toISOString() + JSON_STR_QUOTE;
              } else if (value_text_3 instanceof RegExp) {
                json += asString(value_text_3.source);
              } else {
                json += asString(value_text_3.toString());
              }
            } else {
              json += asString(value_text_3);
            }
          } else {
            throw new Error('"text" is required!');
          }
          const value_image_4 = obj["image"];
          if (value_image_4 !== void 0) {
            json += ',"image":';
            if (value_image_4 === null) {
              json += JSON_STR_NULL;
            } else if (typeof value_image_4 === "string" || value_image_4 === null || value_image_4 instanceof Date || value_image_4 instanceof RegExp || typeof value_image_4 === "object" && typeof value_image_4.toString === "function" && value_image_4.toString !== Object.prototype.toString) {
              if (typeof value_image_4 !== "string") {
                if (value_image_4 === null) {
                  json += JSON_STR_EMPTY_STRING;
                } else if (value_image_4 instanceof Date) {
                  json += JSON_STR_QUOTE + value_image_4.toISOString() + JSON_STR_QUOTE;
                } else if (value_image_4 instanceof RegExp) {
                  json += asString(value_image_4.source);
                } else {
                  json += asString(value_image_4.toString());
                }
              } else {
                json += asString(value_image_4);
              }
            } else throw new TypeError("The value of '#/items/properties/image' does not match schema definition.");
          } else {
            throw new Error('"image" is required!');
          }
          const value_author_id_5 = obj["author_id"];
          if (value_author_id_5 !== void 0) {
            json += ',"author_id":';
            json += asInteger(value_author_id_5);
          } else {
            throw new Error('"author_id" is required!');
          }
          const value_author_username_6 = obj["author_username"];
          if (value_author_username_6 !== void 0) {
            json += ',"author_username":';
            if (value_author_username_6 === null) {
              json += JSON_STR_NULL;
            } else if (typeof value_author_username_6 === "string" || value_author_username_6 === null || value_author_username_6 instanceof Date || value_author_username_6 instanceof RegExp || typeof value_author_username_6 === "object" && typeof value_author_username_6.toString === "function" && value_author_username_6.toString !== Object.prototype.toString) {
              if (typeof value_author_username_6 !== "string") {
                if (value_author_username_6 === null) {
                  json += JSON_STR_EMPTY_STRING;
                } else if (value_author_username_6 instanceof Date) {
                  json += JSON_STR_QUOTE + value_author_username_6.toISOString() + JSON_STR_QUOTE;
                } else if (value_author_username_6 instanceof RegExp) {
                  json += asString(value_author_username_6.source);
                } else {
                  json += asString(value_author_username_6.toString());
                }
              } else {
                json += asString(value_author_username_6);
              }
            } else throw new TypeError("The value of '#/items/properties/author_username' does not match schema definition.");
          } else {
            throw new Error('"author_username" is required!');
          }
          const value_created_at_7 = obj["created_at"];
          if (value_created_at_7 !== void 0) {
            json += ',"created_at":';
            json += asDateTime(value_created_at_7);
          } else {
            throw new Error('"created_at" is required!');
          }
          const value_like_count_8 = obj["like_count"];
          if (value_like_count_8 !== void 0) {
            json += ',"like_count":';
            json += asInteger(value_like_count_8);
          } else {
            throw new Error('"like_count" is required!');
          }
          const value_liked_by_me_9 = obj["liked_by_me"];
          if (value_liked_by_me_9 !== void 0) {
            json += ',"liked_by_me":';
            json += asBoolean(value_liked_by_me_9);
          } else {
            throw new Error('"liked_by_me" is required!');
          }
          return json + JSON_STR_END_OBJECT;
        }
        function anonymous0(obj) {
          let json = "";
          if (obj === null) return JSON_STR_EMPTY_ARRAY;
          if (!Array.isArray(obj)) {
            throw new TypeError("The value of '#' does not match schema definition.");
          }
          const arrayLength = obj.length;
          json += JSON_STR_BEGIN_ARRAY;
          if (arrayLength > 0) {
            const value = obj[0];
            json += anonymous1(value);
            for (let i = 1; i < arrayLength; i++) {
              json += JSON_STR_COMMA;
              const value2 = obj[i];
              json += anonymous1(value2);
            }
          }
          return json + JSON_STR_END_ARRAY;
        }
        const main = anonymous0;
        return main;
      })(validator, serializer);
      return module2.exports;
    })();
    exports.serialize9 = (() => {
      const module2 = {};
      "use strict";
      const Serializer = require_serializer();
      const serializerState = { "mode": "standalone" };
      const serializer = Serializer.restoreFromState(serializerState);
      const validator = null;
      module2.exports = (function anonymous(validator2, serializer2) {
        const {
          asString,
          asNumber,
          asBoolean,
          asDateTime,
          asDate,
          asTime,
          asUnsafeString,
          asPlainStringArray
        } = serializer2;
        const asInteger = serializer2.asInteger.bind(serializer2);
        const JSON_STR_BEGIN_OBJECT = "{";
        const JSON_STR_END_OBJECT = "}";
        const JSON_STR_BEGIN_ARRAY = "[";
        const JSON_STR_END_ARRAY = "]";
        const JSON_STR_COMMA = ",";
        const JSON_STR_COLONS = ":";
        const JSON_STR_QUOTE = '"';
        const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT;
        const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY;
        const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE;
        const JSON_STR_NULL = "null";
        function anonymous2(input) {
          const obj = input && typeof input.toJSON === "function" ? input.toJSON() : input;
          if (obj === null) return JSON_STR_EMPTY_OBJECT;
          let json = "";
          json += JSON_STR_BEGIN_OBJECT;
          return json + JSON_STR_END_OBJECT;
        }
        function anonymous1(obj) {
          let json = "";
          if (obj === null) return JSON_STR_EMPTY_ARRAY;
          if (!Array.isArray(obj)) {
            throw new TypeError("The value of '__fjs_merged_10#/properties/comments' does not match schema definition.");
          }
          const arrayLength = obj.length;
          json += JSON_STR_BEGIN_ARRAY;
          if (arrayLength > 0) {
            const value = obj[0];
            json += anonymous2(value);
            for (let i = 1; i < arrayLength; i++) {
              json += JSON_STR_COMMA;
              const value2 = obj[i];
              json += anonymous2(value2);
            }
          }
          return json + JSON_STR_END_ARRAY;
        }
        function anonymous0(input) {
          const obj = input && typeof input.toJSON === "function" ? input.toJSON() : input;
          if (obj === null) return JSON_STR_EMPTY_OBJECT;
          let json = "";
          const value_id_1 = obj["id"];
          if (value_id_1 !== void 0) {
            json += '{"id":';
            json += asInteger(value_id_1);
          } else {
            throw new Error('"id" is required!');
          }
          const value_title_2 = obj["title"];
          if (value_title_2 !== void 0) {
            json += ',"title":';
            if (typeof value_title_2 !== "string") {
              if (value_title_2 === null) {
                json += JSON_STR_EMPTY_STRING;
              } else if (value_title_2 instanceof Date) {
                json += JSON_STR_QUOTE + value_title_2.toISOString() + JSON_STR_QUOTE;
              } else if (value_title_2 instanceof RegExp) {
                json += asString(value_title_2.source);
              } else {
                json += asString(value_title_2.toString());
              }
            } else {
              json += asString(value_title_2);
            }
          } else {
            throw new Error('"title" is required!');
          }
          const value_text_3 = obj["text"];
          if (value_text_3 !== void 0) {
            json += ',"text":';
            if (typeof value_text_3 !== "string") {
              if (value_text_3 === null) {
                json += JSON_STR_EMPTY_STRING;
              } else if (value_text_3 instanceof Date) {
                json += JSON_STR_QUOTE + value_text_3.toISOString() + JSON_STR_QUOTE;
              } else if (value_text_3 instanceof RegExp) {
                json += asString(value_text_3.source);
              } else {
                json += asString(value_text_3.toString());
              }
            } else {
              json += asString(value_text_3);
            }
          } else {
            throw new Error('"text" is required!');
          }
          const value_image_4 = obj["image"];
          if (value_image_4 !== void 0) {
            json += ',"image":';
            if (value_image_4 === null) {
              json += JSON_STR_NULL;
            } else if (typeof value_image_4 === "string" || value_image_4 === null || value_image_4 instanceof Date || value_image_4 instanceof RegExp || typeof value_image_4 === "object" && typeof value_image_4.toString === "function" && value_image_4.toString !== Object.prototype.toString) {
              if (typeof value_image_4 !== "string") {
                if (value_image_4 === null) {
                  json += JSON_STR_EMPTY_STRING;
                } else if (value_image_4 instanceof Date) {
                  json += JSON_STR_QUOTE + value_image_4.toISOString() + JSON_STR_QUOTE;
                } else if (value_image_4 instanceof RegExp) {
                  json += asString(value_image_4.source);
                } else {
                  json += asString(value_image_4.toString());
                }
              } else {
                json += asString(value_image_4);
              }
            } else throw new TypeError("The value of '__fjs_merged_10#/properties/image' does not match schema definition.");
          } else {
            throw new Error('"image" is required!');
          }
          const value_author_id_5 = obj["author_id"];
          if (value_author_id_5 !== void 0) {
            json += ',"author_id":';
            json += asInteger(value_author_id_5);
          } else {
            throw new Error('"author_id" is required!');
          }
          const value_author_username_6 = obj["author_username"];
          if (value_author_username_6 !== void 0) {
            json += ',"author_username":';
            if (value_author_username_6 === null) {
              json += JSON_STR_NULL;
            } else if (typeof value_author_username_6 === "string" || value_author_username_6 === null || value_author_username_6 instanceof Date || value_author_username_6 instanceof RegExp || typeof value_author_username_6 === "object" && typeof value_author_username_6.toString === "function" && value_author_username_6.toString !== Object.prototype.toString) {
              if (typeof value_author_username_6 !== "string") {
                if (value_author_username_6 === null) {
                  json += JSON_STR_EMPTY_STRING;
                } else if (value_author_username_6 instanceof Date) {
                  json += JSON_STR_QUOTE + value_author_username_6.toISOString() + JSON_STR_QUOTE;
                } else if (value_author_username_6 instanceof RegExp) {
                  json += asString(value_author_username_6.source);
                } else {
                  json += asString(value_author_username_6.toString());
                }
              } else {
                json += asString(value_author_username_6);
              }
            } else throw new TypeError("The value of '__fjs_merged_10#/properties/author_username' does not match schema definition.");
          } else {
            throw new Error('"author_username" is required!');
          }
          const value_created_at_7 = obj["created_at"];
          if (value_created_at_7 !== void 0) {
            json += ',"created_at":';
            json += asDateTime(value_created_at_7);
          } else {
            throw new Error('"created_at" is required!');
          }
          const value_like_count_8 = obj["like_count"];
          if (value_like_count_8 !== void 0) {
            json += ',"like_count":';
            json += asInteger(value_like_count_8);
          } else {
            throw new Error('"like_count" is required!');
          }
          const value_liked_by_me_9 = obj["liked_by_me"];
          if (value_liked_by_me_9 !== void 0) {
            json += ',"liked_by_me":';
            json += asBoolean(value_liked_by_me_9);
          } else {
            throw new Error('"liked_by_me" is required!');
          }
          const value_comments_10 = obj["comments"];
          if (value_comments_10 !== void 0) {
            json += ',"comments":';
            json += anonymous1(value_comments_10);
          } else {
            throw new Error('"comments" is required!');
          }
          return json + JSON_STR_END_OBJECT;
        }
        const main = anonymous0;
        return main;
      })(validator, serializer);
      return module2.exports;
    })();
    exports.serialize10 = (() => {
      const module2 = {};
      "use strict";
      const Serializer = require_serializer();
      const serializerState = { "mode": "standalone" };
      const serializer = Serializer.restoreFromState(serializerState);
      const validator = null;
      module2.exports = (function anonymous(validator2, serializer2) {
        const {
          asString,
          asNumber,
          asBoolean,
          asDateTime,
          asDate,
          asTime,
          asUnsafeString,
          asPlainStringArray
        } = serializer2;
        const asInteger = serializer2.asInteger.bind(serializer2);
        const JSON_STR_BEGIN_OBJECT = "{";
        const JSON_STR_END_OBJECT = "}";
        const JSON_STR_BEGIN_ARRAY = "[";
        const JSON_STR_END_ARRAY = "]";
        const JSON_STR_COMMA = ",";
        const JSON_STR_COLONS = ":";
        const JSON_STR_QUOTE = '"';
        const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT;
        const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY;
        const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE;
        const JSON_STR_NULL = "null";
        function anonymous0(input) {
          const obj = input && typeof input.toJSON === "function" ? input.toJSON() : input;
          if (obj === null) return JSON_STR_EMPTY_OBJECT;
          let json = "";
          const value_id_1 = obj["id"];
          if (value_id_1 !== void 0) {
            json += '{"id":';
            json += asInteger(value_id_1);
          } else {
            throw new Error('"id" is required!');
          }
          const value_title_2 = obj["title"];
          if (value_title_2 !== void 0) {
            json += ',"title":';
            if (typeof value_title_2 !== "string") {
              if (value_title_2 === null) {
                json += JSON_STR_EMPTY_STRING;
              } else if (value_title_2 instanceof Date) {
                json += JSON_STR_QUOTE + value_title_2.toISOString() + JSON_STR_QUOTE;
              } else if (value_title_2 instanceof RegExp) {
                json += asString(value_title_2.source);
              } else {
                json += asString(value_title_2.toString());
              }
            } else {
              json += asString(value_title_2);
            }
          } else {
            throw new Error('"title" is required!');
          }
          const value_text_3 = obj["text"];
          if (value_text_3 !== void 0) {
            json += ',"text":';
            if (typeof value_text_3 !== "string") {
              if (value_text_3 === null) {
                json += JSON_STR_EMPTY_STRING;
              } else if (value_text_3 instanceof Date) {
                json += JSON_STR_QUOTE + value_text_3.toISOString() + JSON_STR_QUOTE;
              } else if (value_text_3 instanceof RegExp) {
                json += asString(value_text_3.source);
              } else {
                json += asString(value_text_3.toString());
              }
            } else {
              json += asString(value_text_3);
            }
          } else {
            throw new Error('"text" is required!');
          }
          const value_image_4 = obj["image"];
          if (value_image_4 !== void 0) {
            json += ',"image":';
            if (value_image_4 === null) {
              json += JSON_STR_NULL;
            } else if (typeof value_image_4 === "string" || value_image_4 === null || value_image_4 instanceof Date || value_image_4 instanceof RegExp || typeof value_image_4 === "object" && typeof value_image_4.toString === "function" && value_image_4.toString !== Object.prototype.toString) {
              if (typeof value_image_4 !== "string") {
                if (value_image_4 === null) {
                  json += JSON_STR_EMPTY_STRING;
                } else if (value_image_4 instanceof Date) {
                  json += JSON_STR_QUOTE + value_image_4.toISOString() + JSON_STR_QUOTE;
                } else if (value_image_4 instanceof RegExp) {
                  json += asString(value_image_4.source);
                } else {
                  json += asString(value_image_4.toString());
                }
              } else {
                json += asString(value_image_4);
              }
            } else throw new TypeError("The value of '#/properties/image' does not match schema definition.");
          } else {
            throw new Error('"image" is required!');
          }
          const value_author_id_5 = obj["author_id"];
          if (value_author_id_5 !== void 0) {
            json += ',"author_id":';
            json += asInteger(value_author_id_5);
          } else {
            throw new Error('"author_id" is required!');
          }
          const value_author_username_6 = obj["author_username"];
          if (value_author_username_6 !== void 0) {
            json += ',"author_username":';
            if (value_author_username_6 === null) {
              json += JSON_STR_NULL;
            } else if (typeof value_author_username_6 === "string" || value_author_username_6 === null || value_author_username_6 instanceof Date || value_author_username_6 instanceof RegExp || typeof value_author_username_6 === "object" && typeof value_author_username_6.toString === "function" && value_author_username_6.toString !== Object.prototype.toString) {
              if (typeof value_author_username_6 !== "string") {
                if (value_author_username_6 === null) {
                  json += JSON_STR_EMPTY_STRING;
                } else if (value_author_username_6 instanceof Date) {
                  json += JSON_STR_QUOTE + value_author_username_6.toISOString() + JSON_STR_QUOTE;
                } else if (value_author_username_6 instanceof RegExp) {
                  json += asString(value_author_username_6.source);
                } else {
                  json += asString(value_author_username_6.toString());
                }
              } else {
                json += asString(value_author_username_6);
              }
            } else throw new TypeError("The value of '#/properties/author_username' does not match schema definition.");
          } else {
            throw new Error('"author_username" is required!');
          }
          const value_created_at_7 = obj["created_at"];
          if (value_created_at_7 !== void 0) {
            json += ',"created_at":';
            json += asDateTime(value_created_at_7);
          } else {
            throw new Error('"created_at" is required!');
          }
          const value_like_count_8 = obj["like_count"];
          if (value_like_count_8 !== void 0) {
            json += ',"like_count":';
            json += asInteger(value_like_count_8);
          } else {
            throw new Error('"like_count" is required!');
          }
          const value_liked_by_me_9 = obj["liked_by_me"];
          if (value_liked_by_me_9 !== void 0) {
            json += ',"liked_by_me":';
            json += asBoolean(value_liked_by_me_9);
          } else {
            throw new Error('"liked_by_me" is required!');
          }
          return json + JSON_STR_END_OBJECT;
        }
        const main = anonymous0;
        return main;
      })(validator, serializer);
      return module2.exports;
    })();
    exports.serialize11 = (() => {
      const module2 = {};
      "use strict";
      const Serializer = require_serializer();
      const serializerState = { "mode": "standalone" };
      const serializer = Serializer.restoreFromState(serializerState);
      const validator = null;
      module2.exports = (function anonymous(validator2, serializer2) {
        const {
          asString,
          asNumber,
          asBoolean,
          asDateTime,
          asDate,
          asTime,
          asUnsafeString,
          asPlainStringArray
        } = serializer2;
        const asInteger = serializer2.asInteger.bind(serializer2);
        const JSON_STR_BEGIN_OBJECT = "{";
        const JSON_STR_END_OBJECT = "}";
        const JSON_STR_BEGIN_ARRAY = "[";
        const JSON_STR_END_ARRAY = "]";
        const JSON_STR_COMMA = ",";
        const JSON_STR_COLONS = ":";
        const JSON_STR_QUOTE = '"';
        const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT;
        const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY;
        const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE;
        const JSON_STR_NULL = "null";
        function anonymous1(input) {
          const obj = input && typeof input.toJSON === "function" ? input.toJSON() : input;
          if (obj === null) return JSON_STR_EMPTY_OBJECT;
          let json = "";
          const value_id_1 = obj["id"];
          if (value_id_1 !== void 0) {
            json += '{"id":';
            json += asInteger(value_id_1);
          } else {
            throw new Error('"id" is required!');
          }
          const value_name_2 = obj["name"];
          if (value_name_2 !== void 0) {
            json += ',"name":';
            if (typeof value_name_2 !== "string") {
              if (value_name_2 === null) {
                json += JSON_STR_EMPTY_STRING;
              } else if (value_name_2 instanceof Date) {
                json += JSON_STR_QUOTE + value_name_2.toISOString() + JSON_STR_QUOTE;
              } else if (value_name_2 instanceof RegExp) {
                json += asString(value_name_2.source);
              } else {
                json += asString(value_name_2.toString());
              }
            } else {
              json += asString(value_name_2);
            }
          } else {
            throw new Error('"name" is required!');
          }
          const value_username_3 = obj["username"];
          if (value_username_3 !== void 0) {
            json += ',"username":';
            if (typeof value_username_3 !== "string") {
              if (value_username_3 === null) {
                json += JSON_STR_EMPTY_STRING;
              } else if (value_username_3 instanceof Date) {
                json += JSON_STR_QUOTE + value_username_3.toISOString() + JSON_STR_QUOTE;
              } else if (value_username_3 instanceof RegExp) {
                json += asString(value_username_3.source);
              } else {
                json += asString(value_username_3.toString());
              }
            } else {
              json += asString(value_username_3);
            }
          } else {
            throw new Error('"username" is required!');
          }
          const value_profile_link_4 = obj["profile_link"];
          if (value_profile_link_4 !== void 0) {
            json += ',"profile_link":';
            if (value_profile_link_4 === null) {
              json += JSON_STR_NULL;
            } else if (typeof value_profile_link_4 === "string" || value_profile_link_4 === null || value_profile_link_4 instanceof Date || value_profile_link_4 instanceof RegExp || typeof value_profile_link_4 === "object" && typeof value_profile_link_4.toString === "function" && value_profile_link_4.toString !== Object.prototype.toString) {
              if (typeof value_profile_link_4 !== "string") {
                if (value_profile_link_4 === null) {
                  json += JSON_STR_EMPTY_STRING;
                } else if (value_profile_link_4 instanceof Date) {
                  json += JSON_STR_QUOTE + value_profile_link_4.toISOString() + JSON_STR_QUOTE;
                } else if (value_profile_link_4 instanceof RegExp) {
                  json += asString(value_profile_link_4.source);
                } else {
                  json += asString(value_profile_link_4.toString());
                }
              } else {
                json += asString(value_profile_link_4);
              }
            } else throw new TypeError("The value of '#/items/properties/profile_link' does not match schema definition.");
          } else {
            throw new Error('"profile_link" is required!');
          }
          const value_private_5 = obj["private"];
          if (value_private_5 !== void 0) {
            json += ',"private":';
            json += asBoolean(value_private_5);
          } else {
            throw new Error('"private" is required!');
          }
          return json + JSON_STR_END_OBJECT;
        }
        function anonymous0(obj) {
          let json = "";
          if (obj === null) return JSON_STR_EMPTY_ARRAY;
          if (!Array.isArray(obj)) {
            throw new TypeError("The value of '#' does not match schema definition.");
          }
          const arrayLength = obj.length;
          json += JSON_STR_BEGIN_ARRAY;
          if (arrayLength > 0) {
            const value = obj[0];
            json += anonymous1(value);
            for (let i = 1; i < arrayLength; i++) {
              json += JSON_STR_COMMA;
              const value2 = obj[i];
              json += anonymous1(value2);
            }
          }
          return json + JSON_STR_END_ARRAY;
        }
        const main = anonymous0;
        return main;
      })(validator, serializer);
      return module2.exports;
    })();
    exports.serialize12 = (() => {
      const module2 = {};
      "use strict";
      const Serializer = require_serializer();
      const serializerState = { "mode": "standalone" };
      const serializer = Serializer.restoreFromState(serializerState);
      const validator = null;
      module2.exports = (function anonymous(validator2, serializer2) {
        const {
          asString,
          asNumber,
          asBoolean,
          asDateTime,
          asDate,
          asTime,
          asUnsafeString,
          asPlainStringArray
        } = serializer2;
        const asInteger = serializer2.asInteger.bind(serializer2);
        const JSON_STR_BEGIN_OBJECT = "{";
        const JSON_STR_END_OBJECT = "}";
        const JSON_STR_BEGIN_ARRAY = "[";
        const JSON_STR_END_ARRAY = "]";
        const JSON_STR_COMMA = ",";
        const JSON_STR_COLONS = ":";
        const JSON_STR_QUOTE = '"';
        const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT;
        const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY;
        const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE;
        const JSON_STR_NULL = "null";
        function anonymous1(input) {
          const obj = input && typeof input.toJSON === "function" ? input.toJSON() : input;
          if (obj === null) return JSON_STR_EMPTY_OBJECT;
          let json = "";
          const value_id_1 = obj["id"];
          if (value_id_1 !== void 0) {
            json += '{"id":';
            json += asInteger(value_id_1);
          } else {
            throw new Error('"id" is required!');
          }
          const value_name_2 = obj["name"];
          if (value_name_2 !== void 0) {
            json += ',"name":';
            if (typeof value_name_2 !== "string") {
              if (value_name_2 === null) {
                json += JSON_STR_EMPTY_STRING;
              } else if (value_name_2 instanceof Date) {
                json += JSON_STR_QUOTE + value_name_2.toISOString() + JSON_STR_QUOTE;
              } else if (value_name_2 instanceof RegExp) {
                json += asString(value_name_2.source);
              } else {
                json += asString(value_name_2.toString());
              }
            } else {
              json += asString(value_name_2);
            }
          } else {
            throw new Error('"name" is required!');
          }
          const value_username_3 = obj["username"];
          if (value_username_3 !== void 0) {
            json += ',"username":';
            if (typeof value_username_3 !== "string") {
              if (value_username_3 === null) {
                json += JSON_STR_EMPTY_STRING;
              } else if (value_username_3 instanceof Date) {
                json += JSON_STR_QUOTE + value_username_3.toISOString() + JSON_STR_QUOTE;
              } else if (value_username_3 instanceof RegExp) {
                json += asString(value_username_3.source);
              } else {
                json += asString(value_username_3.toString());
              }
            } else {
              json += asString(value_username_3);
            }
          } else {
            throw new Error('"username" is required!');
          }
          const value_profile_link_4 = obj["profile_link"];
          if (value_profile_link_4 !== void 0) {
            json += ',"profile_link":';
            if (value_profile_link_4 === null) {
              json += JSON_STR_NULL;
            } else if (typeof value_profile_link_4 === "string" || value_profile_link_4 === null || value_profile_link_4 instanceof Date || value_profile_link_4 instanceof RegExp || typeof value_profile_link_4 === "object" && typeof value_profile_link_4.toString === "function" && value_profile_link_4.toString !== Object.prototype.toString) {
              if (typeof value_profile_link_4 !== "string") {
                if (value_profile_link_4 === null) {
                  json += JSON_STR_EMPTY_STRING;
                } else if (value_profile_link_4 instanceof Date) {
                  json += JSON_STR_QUOTE + value_profile_link_4.toISOString() + JSON_STR_QUOTE;
                } else if (value_profile_link_4 instanceof RegExp) {
                  json += asString(value_profile_link_4.source);
                } else {
                  json += asString(value_profile_link_4.toString());
                }
              } else {
                json += asString(value_profile_link_4);
              }
            } else throw new TypeError("The value of '#/items/properties/profile_link' does not match schema definition.");
          }
          const value_private_5 = obj["private"];
          if (value_private_5 !== void 0) {
            json += ',"private":';
            json += asBoolean(value_private_5);
          }
          return json + JSON_STR_END_OBJECT;
        }
        function anonymous0(obj) {
          let json = "";
          if (obj === null) return JSON_STR_EMPTY_ARRAY;
          if (!Array.isArray(obj)) {
            throw new TypeError("The value of '#' does not match schema definition.");
          }
          const arrayLength = obj.length;
          json += JSON_STR_BEGIN_ARRAY;
          if (arrayLength > 0) {
            const value = obj[0];
            json += anonymous1(value);
            for (let i = 1; i < arrayLength; i++) {
              json += JSON_STR_COMMA;
              const value2 = obj[i];
              json += anonymous1(value2);
            }
          }
          return json + JSON_STR_END_ARRAY;
        }
        const main = anonymous0;
        return main;
      })(validator, serializer);
      return module2.exports;
    })();
  }
});

// <stdin>
var import_generated_code = __toESM(require_generated_code());
var serializers = {
  register: { 201: import_generated_code.default.serialize0, 400: import_generated_code.default.serialize1, 403: import_generated_code.default.serialize1, 409: import_generated_code.default.serialize1, 413: import_generated_code.default.serialize1, 415: import_generated_code.default.serialize1, 429: import_generated_code.default.serialize1, 500: import_generated_code.default.serialize1, 503: import_generated_code.default.serialize1 },
  login: { 200: import_generated_code.default.serialize2, 400: import_generated_code.default.serialize1, 401: import_generated_code.default.serialize1, 403: import_generated_code.default.serialize1, 413: import_generated_code.default.serialize1, 415: import_generated_code.default.serialize1, 429: import_generated_code.default.serialize1, 500: import_generated_code.default.serialize1, 503: import_generated_code.default.serialize1 },
  getCurrentAccount: { 200: import_generated_code.default.serialize3, 400: import_generated_code.default.serialize1, 401: import_generated_code.default.serialize1, 429: import_generated_code.default.serialize1, 500: import_generated_code.default.serialize1, 503: import_generated_code.default.serialize1 },
  verifySession: { 200: import_generated_code.default.serialize3, 400: import_generated_code.default.serialize1, 401: import_generated_code.default.serialize1, 429: import_generated_code.default.serialize1, 500: import_generated_code.default.serialize1, 503: import_generated_code.default.serialize1 },
  logout: { 200: import_generated_code.default.serialize4, 400: import_generated_code.default.serialize1, 401: import_generated_code.default.serialize1, 403: import_generated_code.default.serialize1, 429: import_generated_code.default.serialize1, 500: import_generated_code.default.serialize1, 503: import_generated_code.default.serialize1 },
  listSessions: { 200: import_generated_code.default.serialize5, 400: import_generated_code.default.serialize1, 401: import_generated_code.default.serialize1, 429: import_generated_code.default.serialize1, 500: import_generated_code.default.serialize1, 503: import_generated_code.default.serialize1 },
  deleteOtherSessions: { 200: import_generated_code.default.serialize4, 400: import_generated_code.default.serialize1, 401: import_generated_code.default.serialize1, 403: import_generated_code.default.serialize1, 429: import_generated_code.default.serialize1, 500: import_generated_code.default.serialize1, 503: import_generated_code.default.serialize1 },
  deleteSession: { 200: import_generated_code.default.serialize4, 400: import_generated_code.default.serialize1, 401: import_generated_code.default.serialize1, 403: import_generated_code.default.serialize1, 404: import_generated_code.default.serialize1, 429: import_generated_code.default.serialize1, 500: import_generated_code.default.serialize1, 503: import_generated_code.default.serialize1 },
  getOwnProfile: { 200: import_generated_code.default.serialize6, 400: import_generated_code.default.serialize1, 401: import_generated_code.default.serialize1, 429: import_generated_code.default.serialize1, 500: import_generated_code.default.serialize1, 503: import_generated_code.default.serialize1 },
  updateProfile: { 200: import_generated_code.default.serialize6, 400: import_generated_code.default.serialize1, 401: import_generated_code.default.serialize1, 403: import_generated_code.default.serialize1, 409: import_generated_code.default.serialize1, 413: import_generated_code.default.serialize1, 415: import_generated_code.default.serialize1, 429: import_generated_code.default.serialize1, 500: import_generated_code.default.serialize1, 503: import_generated_code.default.serialize1 },
  deleteAccount: { 200: import_generated_code.default.serialize4, 400: import_generated_code.default.serialize1, 401: import_generated_code.default.serialize1, 403: import_generated_code.default.serialize1, 413: import_generated_code.default.serialize1, 415: import_generated_code.default.serialize1, 429: import_generated_code.default.serialize1, 500: import_generated_code.default.serialize1, 503: import_generated_code.default.serialize1 },
  getProfile: { 200: import_generated_code.default.serialize7, 400: import_generated_code.default.serialize1, 401: import_generated_code.default.serialize1, 404: import_generated_code.default.serialize1, 429: import_generated_code.default.serialize1, 500: import_generated_code.default.serialize1, 503: import_generated_code.default.serialize1 },
  getProfileImage: { 400: import_generated_code.default.serialize1, 401: import_generated_code.default.serialize1, 404: import_generated_code.default.serialize1, 429: import_generated_code.default.serialize1, 500: import_generated_code.default.serialize1, 503: import_generated_code.default.serialize1 },
  listPosts: { 200: import_generated_code.default.serialize8, 400: import_generated_code.default.serialize1, 401: import_generated_code.default.serialize1, 429: import_generated_code.default.serialize1, 500: import_generated_code.default.serialize1, 503: import_generated_code.default.serialize1 },
  listOwnPosts: { 200: import_generated_code.default.serialize8, 400: import_generated_code.default.serialize1, 401: import_generated_code.default.serialize1, 429: import_generated_code.default.serialize1, 500: import_generated_code.default.serialize1, 503: import_generated_code.default.serialize1 },
  getPost: { 200: import_generated_code.default.serialize9, 400: import_generated_code.default.serialize1, 401: import_generated_code.default.serialize1, 404: import_generated_code.default.serialize1, 429: import_generated_code.default.serialize1, 500: import_generated_code.default.serialize1, 503: import_generated_code.default.serialize1 },
  getPostImage: { 400: import_generated_code.default.serialize1, 401: import_generated_code.default.serialize1, 404: import_generated_code.default.serialize1, 429: import_generated_code.default.serialize1, 500: import_generated_code.default.serialize1, 503: import_generated_code.default.serialize1 },
  createPost: { 201: import_generated_code.default.serialize10, 400: import_generated_code.default.serialize1, 401: import_generated_code.default.serialize1, 403: import_generated_code.default.serialize1, 409: import_generated_code.default.serialize1, 413: import_generated_code.default.serialize1, 415: import_generated_code.default.serialize1, 422: import_generated_code.default.serialize1, 429: import_generated_code.default.serialize1, 500: import_generated_code.default.serialize1, 503: import_generated_code.default.serialize1 },
  editPost: { 200: import_generated_code.default.serialize10, 400: import_generated_code.default.serialize1, 401: import_generated_code.default.serialize1, 403: import_generated_code.default.serialize1, 404: import_generated_code.default.serialize1, 413: import_generated_code.default.serialize1, 415: import_generated_code.default.serialize1, 429: import_generated_code.default.serialize1, 500: import_generated_code.default.serialize1, 503: import_generated_code.default.serialize1 },
  deletePost: { 200: import_generated_code.default.serialize4, 400: import_generated_code.default.serialize1, 401: import_generated_code.default.serialize1, 403: import_generated_code.default.serialize1, 404: import_generated_code.default.serialize1, 429: import_generated_code.default.serialize1, 500: import_generated_code.default.serialize1, 503: import_generated_code.default.serialize1 },
  likePost: { 200: import_generated_code.default.serialize4, 400: import_generated_code.default.serialize1, 401: import_generated_code.default.serialize1, 403: import_generated_code.default.serialize1, 404: import_generated_code.default.serialize1, 429: import_generated_code.default.serialize1, 500: import_generated_code.default.serialize1, 503: import_generated_code.default.serialize1 },
  unlikePost: { 200: import_generated_code.default.serialize4, 400: import_generated_code.default.serialize1, 401: import_generated_code.default.serialize1, 403: import_generated_code.default.serialize1, 404: import_generated_code.default.serialize1, 429: import_generated_code.default.serialize1, 500: import_generated_code.default.serialize1, 503: import_generated_code.default.serialize1 },
  listFriends: { 200: import_generated_code.default.serialize11, 400: import_generated_code.default.serialize1, 401: import_generated_code.default.serialize1, 429: import_generated_code.default.serialize1, 500: import_generated_code.default.serialize1, 503: import_generated_code.default.serialize1 },
  listFriendRequests: { 200: import_generated_code.default.serialize12, 400: import_generated_code.default.serialize1, 401: import_generated_code.default.serialize1, 429: import_generated_code.default.serialize1, 500: import_generated_code.default.serialize1, 503: import_generated_code.default.serialize1 },
  sendFriendRequest: { 200: import_generated_code.default.serialize4, 400: import_generated_code.default.serialize1, 401: import_generated_code.default.serialize1, 403: import_generated_code.default.serialize1, 404: import_generated_code.default.serialize1, 409: import_generated_code.default.serialize1, 429: import_generated_code.default.serialize1, 500: import_generated_code.default.serialize1, 503: import_generated_code.default.serialize1 },
  acceptFriendRequest: { 200: import_generated_code.default.serialize4, 400: import_generated_code.default.serialize1, 401: import_generated_code.default.serialize1, 403: import_generated_code.default.serialize1, 404: import_generated_code.default.serialize1, 429: import_generated_code.default.serialize1, 500: import_generated_code.default.serialize1, 503: import_generated_code.default.serialize1 },
  declineFriendRequest: { 200: import_generated_code.default.serialize4, 400: import_generated_code.default.serialize1, 401: import_generated_code.default.serialize1, 403: import_generated_code.default.serialize1, 404: import_generated_code.default.serialize1, 429: import_generated_code.default.serialize1, 500: import_generated_code.default.serialize1, 503: import_generated_code.default.serialize1 },
  cancelFriendRequest: { 200: import_generated_code.default.serialize4, 400: import_generated_code.default.serialize1, 401: import_generated_code.default.serialize1, 403: import_generated_code.default.serialize1, 404: import_generated_code.default.serialize1, 429: import_generated_code.default.serialize1, 500: import_generated_code.default.serialize1, 503: import_generated_code.default.serialize1 },
  removeFriend: { 200: import_generated_code.default.serialize4, 400: import_generated_code.default.serialize1, 401: import_generated_code.default.serialize1, 403: import_generated_code.default.serialize1, 404: import_generated_code.default.serialize1, 429: import_generated_code.default.serialize1, 500: import_generated_code.default.serialize1, 503: import_generated_code.default.serialize1 },
  createRelationship: { 200: import_generated_code.default.serialize4, 400: import_generated_code.default.serialize1, 401: import_generated_code.default.serialize1, 403: import_generated_code.default.serialize1, 404: import_generated_code.default.serialize1, 409: import_generated_code.default.serialize1, 429: import_generated_code.default.serialize1, 500: import_generated_code.default.serialize1, 503: import_generated_code.default.serialize1 }
};
export {
  serializers
};
