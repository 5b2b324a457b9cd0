// Generated from openapi.yaml by `npm run generate`. Do not edit.

import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

const exports = {};

"use strict";
exports.validate0 = validate20;
const schema31 = {"type":"object","properties":{},"required":[],"additionalProperties":false};

function validate20(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate20.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema31,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema31.type,parentSchema:schema31,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate20.errors = vErrors;
return errors === 0;
}
validate20.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

exports.validate1 = validate21;
const schema32 = {"description":"The data of a new account.","type":"object","additionalProperties":false,"required":["name","username","email","password"],"properties":{"name":{"description":"A display name of at most 100 characters, stored verbatim. It must not contain NUL (U+0000) or U+FFFD, and at least one character must be visible.","type":"string","examples":["Mira Solheim"],"if":{"maxLength":100},"then":{"minLength":1},"else":{"maxLength":100}},"username":{"description":"A username of at most 50 characters, unique under NFKC case folding. It must not contain whitespace, control characters (Cc), format characters (Cf), default ignorable code points (Default_Ignorable_Code_Point) or blank characters such as U+2800. The pattern lists only those of Latin-1.","type":"string","examples":["ines"],"if":{"maxLength":50},"then":{"minLength":1,"pattern":"^[^\\x00-\\x20\\x7f-\\xa0\\xad]+$"},"else":{"maxLength":50}},"email":{"description":"An email address of at most 254 characters, trimmed and lowercased before validation. It must be ASCII, contain one `@`, and have a dot in the domain. Quoted local parts, address literals and addresses of disposable email providers are rejected. The pattern allows the whitespace of Latin-1 around the address.","type":"string","x-normalize":"email","examples":["ines.duarte@example.org"],"if":{"maxLength":254},"then":{"minLength":1,"pattern":"^[\\x09-\\x0d\\x20\\xa0]*[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?[\\x09-\\x0d\\x20\\xa0]*$"},"else":{"maxLength":254}},"password":{"description":"A new password of 12 to 128 characters, used verbatim, including whitespace. It must\n\n- contain a lowercase letter, an uppercase letter, a digit, and a special character (neither a letter nor a digit)\n- not contain the username or the part of the email address before the `@`, regardless of letter case and Unicode form\n- not be a common password or a slight variation of one: other digits and symbols at the end, or look-alike characters\n  (`P4ssword123!`)\n- not contain the same character three times in a row\n- not contain an obvious sequence in either direction: four consecutive letters of the alphabet, four consecutive digits,\n  five adjacent keys of a keyboard row, or the first or last four keys of a row (`qwer`, `hjkl`)\n\nRecommended are three groups of six random letters and digits, joined by hyphens, as password generators produce them:\n`tuvGo4-qesjyn-bidwap`.","type":"string","format":"password","examples":["Copper-Kite_94"],"if":{"maxLength":128},"then":{"minLength":12,"pattern":"^[^\\x00]*$"},"else":{"maxLength":128}}}};
const func1 = require("ajv/dist/runtime/ucs2length").default;
const pattern4 = new RegExp("^[^\\x00-\\x20\\x7f-\\xa0\\xad]+$", "u");
const pattern5 = new RegExp("^[\\x09-\\x0d\\x20\\xa0]*[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?[\\x09-\\x0d\\x20\\xa0]*$", "u");
const pattern6 = new RegExp("^[^\\x00]*$", "u");

function validate21(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate21.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.name === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'",schema:schema32.required,parentSchema:schema32,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.username === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "username"},message:"must have required property '"+"username"+"'",schema:schema32.required,parentSchema:schema32,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.email === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "email"},message:"must have required property '"+"email"+"'",schema:schema32.required,parentSchema:schema32,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.password === undefined){
const err3 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "password"},message:"must have required property '"+"password"+"'",schema:schema32.required,parentSchema:schema32,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
for(const key0 in data){
if(!((((key0 === "name") || (key0 === "username")) || (key0 === "email")) || (key0 === "password"))){
const err4 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema32,data};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.name !== undefined){
let data0 = data.name;
if(typeof data0 !== "string"){
const err5 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema32.properties.name.type,parentSchema:schema32.properties.name,data:data0};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
const _errs4 = errors;
let valid1 = true;
const _errs5 = errors;
if(typeof data0 === "string"){
if(func1(data0) > 100){
const err6 = {};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
var _valid0 = _errs5 === errors;
errors = _errs4;
if(vErrors !== null){
if(_errs4){
vErrors.length = _errs4;
}
else {
vErrors = null;
}
}
let ifClause0;
if(_valid0){
const _errs6 = errors;
if(typeof data0 === "string"){
if(func1(data0) < 1){
const err7 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/then/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema32.properties.name.then,data:data0};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
var _valid0 = _errs6 === errors;
valid1 = _valid0;
ifClause0 = "then";
}
else {
const _errs7 = errors;
if(typeof data0 === "string"){
if(func1(data0) > 100){
const err8 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/else/maxLength",keyword:"maxLength",params:{limit: 100},message:"must NOT have more than 100 characters",schema:100,parentSchema:schema32.properties.name.else,data:data0};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
var _valid0 = _errs7 === errors;
valid1 = _valid0;
ifClause0 = "else";
}
if(!valid1){
const err9 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/if",keyword:"if",params:{failingKeyword: ifClause0},message:"must match \""+ifClause0+"\" schema",schema:schema32.properties.name.if,parentSchema:schema32.properties.name,data:data0};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data.username !== undefined){
let data1 = data.username;
if(typeof data1 !== "string"){
const err10 = {instancePath:instancePath+"/username",schemaPath:"#/properties/username/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema32.properties.username.type,parentSchema:schema32.properties.username,data:data1};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
const _errs10 = errors;
let valid2 = true;
const _errs11 = errors;
if(typeof data1 === "string"){
if(func1(data1) > 50){
const err11 = {};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
var _valid1 = _errs11 === errors;
errors = _errs10;
if(vErrors !== null){
if(_errs10){
vErrors.length = _errs10;
}
else {
vErrors = null;
}
}
let ifClause1;
if(_valid1){
const _errs12 = errors;
if(typeof data1 === "string"){
if(func1(data1) < 1){
const err12 = {instancePath:instancePath+"/username",schemaPath:"#/properties/username/then/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema32.properties.username.then,data:data1};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
if(!pattern4.test(data1)){
const err13 = {instancePath:instancePath+"/username",schemaPath:"#/properties/username/then/pattern",keyword:"pattern",params:{pattern: "^[^\\x00-\\x20\\x7f-\\xa0\\xad]+$"},message:"must match pattern \""+"^[^\\x00-\\x20\\x7f-\\xa0\\xad]+$"+"\"",schema:"^[^\\x00-\\x20\\x7f-\\xa0\\xad]+$",parentSchema:schema32.properties.username.then,data:data1};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
var _valid1 = _errs12 === errors;
valid2 = _valid1;
ifClause1 = "then";
}
else {
const _errs13 = errors;
if(typeof data1 === "string"){
if(func1(data1) > 50){
const err14 = {instancePath:instancePath+"/username",schemaPath:"#/properties/username/else/maxLength",keyword:"maxLength",params:{limit: 50},message:"must NOT have more than 50 characters",schema:50,parentSchema:schema32.properties.username.else,data:data1};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
var _valid1 = _errs13 === errors;
valid2 = _valid1;
ifClause1 = "else";
}
if(!valid2){
const err15 = {instancePath:instancePath+"/username",schemaPath:"#/properties/username/if",keyword:"if",params:{failingKeyword: ifClause1},message:"must match \""+ifClause1+"\" schema",schema:schema32.properties.username.if,parentSchema:schema32.properties.username,data:data1};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
if(data.email !== undefined){
let data2 = data.email;
if(typeof data2 !== "string"){
const err16 = {instancePath:instancePath+"/email",schemaPath:"#/properties/email/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema32.properties.email.type,parentSchema:schema32.properties.email,data:data2};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
const _errs16 = errors;
let valid3 = true;
const _errs17 = errors;
if(typeof data2 === "string"){
if(func1(data2) > 254){
const err17 = {};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
var _valid2 = _errs17 === errors;
errors = _errs16;
if(vErrors !== null){
if(_errs16){
vErrors.length = _errs16;
}
else {
vErrors = null;
}
}
let ifClause2;
if(_valid2){
const _errs18 = errors;
if(typeof data2 === "string"){
if(func1(data2) < 1){
const err18 = {instancePath:instancePath+"/email",schemaPath:"#/properties/email/then/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema32.properties.email.then,data:data2};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
if(!pattern5.test(data2)){
const err19 = {instancePath:instancePath+"/email",schemaPath:"#/properties/email/then/pattern",keyword:"pattern",params:{pattern: "^[\\x09-\\x0d\\x20\\xa0]*[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?[\\x09-\\x0d\\x20\\xa0]*$"},message:"must match pattern \""+"^[\\x09-\\x0d\\x20\\xa0]*[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?[\\x09-\\x0d\\x20\\xa0]*$"+"\"",schema:"^[\\x09-\\x0d\\x20\\xa0]*[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?[\\x09-\\x0d\\x20\\xa0]*$",parentSchema:schema32.properties.email.then,data:data2};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
var _valid2 = _errs18 === errors;
valid3 = _valid2;
ifClause2 = "then";
}
else {
const _errs19 = errors;
if(typeof data2 === "string"){
if(func1(data2) > 254){
const err20 = {instancePath:instancePath+"/email",schemaPath:"#/properties/email/else/maxLength",keyword:"maxLength",params:{limit: 254},message:"must NOT have more than 254 characters",schema:254,parentSchema:schema32.properties.email.else,data:data2};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
var _valid2 = _errs19 === errors;
valid3 = _valid2;
ifClause2 = "else";
}
if(!valid3){
const err21 = {instancePath:instancePath+"/email",schemaPath:"#/properties/email/if",keyword:"if",params:{failingKeyword: ifClause2},message:"must match \""+ifClause2+"\" schema",schema:schema32.properties.email.if,parentSchema:schema32.properties.email,data:data2};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
if(data.password !== undefined){
let data3 = data.password;
const _errs22 = errors;
let valid4 = true;
const _errs23 = errors;
if(typeof data3 === "string"){
if(func1(data3) > 128){
const err22 = {};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
var _valid3 = _errs23 === errors;
errors = _errs22;
if(vErrors !== null){
if(_errs22){
vErrors.length = _errs22;
}
else {
vErrors = null;
}
}
let ifClause3;
if(_valid3){
const _errs24 = errors;
if(typeof data3 === "string"){
if(func1(data3) < 12){
const err23 = {instancePath:instancePath+"/password",schemaPath:"#/properties/password/then/minLength",keyword:"minLength",params:{limit: 12},message:"must NOT have fewer than 12 characters",schema:12,parentSchema:schema32.properties.password.then,data:data3};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
if(!pattern6.test(data3)){
const err24 = {instancePath:instancePath+"/password",schemaPath:"#/properties/password/then/pattern",keyword:"pattern",params:{pattern: "^[^\\x00]*$"},message:"must match pattern \""+"^[^\\x00]*$"+"\"",schema:"^[^\\x00]*$",parentSchema:schema32.properties.password.then,data:data3};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
var _valid3 = _errs24 === errors;
valid4 = _valid3;
ifClause3 = "then";
}
else {
const _errs25 = errors;
if(typeof data3 === "string"){
if(func1(data3) > 128){
const err25 = {instancePath:instancePath+"/password",schemaPath:"#/properties/password/else/maxLength",keyword:"maxLength",params:{limit: 128},message:"must NOT have more than 128 characters",schema:128,parentSchema:schema32.properties.password.else,data:data3};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
var _valid3 = _errs25 === errors;
valid4 = _valid3;
ifClause3 = "else";
}
if(!valid4){
const err26 = {instancePath:instancePath+"/password",schemaPath:"#/properties/password/if",keyword:"if",params:{failingKeyword: ifClause3},message:"must match \""+ifClause3+"\" schema",schema:schema32.properties.password.if,parentSchema:schema32.properties.password,data:data3};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
if(!(typeof data3 === "string")){
const err27 = {instancePath:instancePath+"/password",schemaPath:"#/properties/password/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema32.properties.password.type,parentSchema:schema32.properties.password,data:data3};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
}
else {
const err28 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema32.type,parentSchema:schema32,data};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
validate21.errors = vErrors;
return errors === 0;
}
validate21.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

exports.validate2 = validate22;
const schema33 = {"description":"The credentials of a login. A malformed email address returns the same 401 as a wrong password.","type":"object","additionalProperties":false,"required":["email","password"],"properties":{"email":{"description":"The email address of the account. It is trimmed and lowercased.","type":"string","x-normalize":"email","pattern":"^[^\\x00]*$","examples":["ines.duarte@example.org"]},"password":{"description":"The password of the account, compared verbatim, including whitespace.","type":"string","format":"password","examples":["Copper-Kite_94"],"if":{"maxLength":128},"then":{"pattern":"^[^\\x00]*$"},"else":{"maxLength":128}}}};

function validate22(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate22.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.email === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "email"},message:"must have required property '"+"email"+"'",schema:schema33.required,parentSchema:schema33,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.password === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "password"},message:"must have required property '"+"password"+"'",schema:schema33.required,parentSchema:schema33,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!((key0 === "email") || (key0 === "password"))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema33,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.email !== undefined){
let data0 = data.email;
if(typeof data0 === "string"){
if(!pattern6.test(data0)){
const err3 = {instancePath:instancePath+"/email",schemaPath:"#/properties/email/pattern",keyword:"pattern",params:{pattern: "^[^\\x00]*$"},message:"must match pattern \""+"^[^\\x00]*$"+"\"",schema:"^[^\\x00]*$",parentSchema:schema33.properties.email,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/email",schemaPath:"#/properties/email/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema33.properties.email.type,parentSchema:schema33.properties.email,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.password !== undefined){
let data1 = data.password;
const _errs6 = errors;
let valid1 = true;
const _errs7 = errors;
if(typeof data1 === "string"){
if(func1(data1) > 128){
const err5 = {};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
var _valid0 = _errs7 === errors;
errors = _errs6;
if(vErrors !== null){
if(_errs6){
vErrors.length = _errs6;
}
else {
vErrors = null;
}
}
let ifClause0;
if(_valid0){
const _errs8 = errors;
if(typeof data1 === "string"){
if(!pattern6.test(data1)){
const err6 = {instancePath:instancePath+"/password",schemaPath:"#/properties/password/then/pattern",keyword:"pattern",params:{pattern: "^[^\\x00]*$"},message:"must match pattern \""+"^[^\\x00]*$"+"\"",schema:"^[^\\x00]*$",parentSchema:schema33.properties.password.then,data:data1};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
var _valid0 = _errs8 === errors;
valid1 = _valid0;
ifClause0 = "then";
}
else {
const _errs9 = errors;
if(typeof data1 === "string"){
if(func1(data1) > 128){
const err7 = {instancePath:instancePath+"/password",schemaPath:"#/properties/password/else/maxLength",keyword:"maxLength",params:{limit: 128},message:"must NOT have more than 128 characters",schema:128,parentSchema:schema33.properties.password.else,data:data1};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
var _valid0 = _errs9 === errors;
valid1 = _valid0;
ifClause0 = "else";
}
if(!valid1){
const err8 = {instancePath:instancePath+"/password",schemaPath:"#/properties/password/if",keyword:"if",params:{failingKeyword: ifClause0},message:"must match \""+ifClause0+"\" schema",schema:schema33.properties.password.if,parentSchema:schema33.properties.password,data:data1};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if(!(typeof data1 === "string")){
const err9 = {instancePath:instancePath+"/password",schemaPath:"#/properties/password/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema33.properties.password.type,parentSchema:schema33.properties.password,data:data1};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
}
else {
const err10 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema33.type,parentSchema:schema33,data};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
validate22.errors = vErrors;
return errors === 0;
}
validate22.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

exports.validate3 = validate23;
const schema34 = {"type":"object","additionalProperties":false,"properties":{}};

function validate23(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate23.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema34,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema34.type,parentSchema:schema34,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate23.errors = vErrors;
return errors === 0;
}
validate23.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

exports.validate4 = validate24;
const schema35 = {"type":"object","properties":{"id":{"type":"string"}},"required":["id"],"additionalProperties":false};

function validate24(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate24.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.id === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "id"},message:"must have required property '"+"id"+"'",schema:schema35.required,parentSchema:schema35,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(key0 === "id")){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema35,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.id !== undefined){
let data0 = data.id;
if(typeof data0 !== "string"){
const err2 = {instancePath:instancePath+"/id",schemaPath:"#/properties/id/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema35.properties.id.type,parentSchema:schema35.properties.id,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema35.type,parentSchema:schema35,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate24.errors = vErrors;
return errors === 0;
}
validate24.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

exports.validate5 = validate25;
const schema36 = {"description":"Changes to the authenticated user's account and profile. Omitted fields remain unchanged.","type":"object","additionalProperties":false,"minProperties":1,"properties":{"name":{"description":"A display name of at most 100 characters, stored verbatim. It must not contain NUL (U+0000) or U+FFFD, and at least one character must be visible.","type":"string","examples":["Mira Solheim"],"if":{"maxLength":100},"then":{"minLength":1},"else":{"maxLength":100}},"username":{"description":"A username of at most 50 characters, unique under NFKC case folding. It must not contain whitespace, control characters (Cc), format characters (Cf), default ignorable code points (Default_Ignorable_Code_Point) or blank characters such as U+2800. The pattern lists only those of Latin-1.","type":"string","examples":["ines"],"if":{"maxLength":50},"then":{"minLength":1,"pattern":"^[^\\x00-\\x20\\x7f-\\xa0\\xad]+$"},"else":{"maxLength":50}},"email":{"description":"An email address of at most 254 characters, trimmed and lowercased before validation. It must be ASCII, contain one `@`, and have a dot in the domain. Quoted local parts, address literals and addresses of disposable email providers are rejected. The pattern allows the whitespace of Latin-1 around the address.","type":"string","x-normalize":"email","examples":["ines.duarte@example.org"],"if":{"maxLength":254},"then":{"minLength":1,"pattern":"^[\\x09-\\x0d\\x20\\xa0]*[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?[\\x09-\\x0d\\x20\\xa0]*$"},"else":{"maxLength":254}},"password":{"description":"A new password of 12 to 128 characters, used verbatim, including whitespace. It must\n\n- contain a lowercase letter, an uppercase letter, a digit, and a special character (neither a letter nor a digit)\n- not contain the username or the part of the email address before the `@`, regardless of letter case and Unicode form\n- not be a common password or a slight variation of one: other digits and symbols at the end, or look-alike characters\n  (`P4ssword123!`)\n- not contain the same character three times in a row\n- not contain an obvious sequence in either direction: four consecutive letters of the alphabet, four consecutive digits,\n  five adjacent keys of a keyboard row, or the first or last four keys of a row (`qwer`, `hjkl`)\n\nRecommended are three groups of six random letters and digits, joined by hyphens, as password generators produce them:\n`tuvGo4-qesjyn-bidwap`.","type":"string","format":"password","examples":["Copper-Kite_94"],"if":{"maxLength":128},"then":{"minLength":12,"pattern":"^[^\\x00]*$"},"else":{"maxLength":128}},"current_password":{"description":"The authenticated user's current password, compared verbatim, including whitespace.","type":"string","format":"password","examples":["Teal-Lantern_58"],"if":{"maxLength":128},"then":{"minLength":1,"pattern":"^[^\\x00]*$"},"else":{"maxLength":128}},"private":{"description":"Whether only friends may see the posts, the profile picture and the full profile: `true` or `false`, case-insensitive.","type":"boolean"},"image":{},"remove_image":{"description":"Whether to remove the profile picture: `true` or `false`, case-insensitive. Must not be `true` if the form contains `image`.","type":"boolean"}}};

function validate25(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate25.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(Object.keys(data).length < 1){
const err0 = {instancePath,schemaPath:"#/minProperties",keyword:"minProperties",params:{limit: 1},message:"must NOT have fewer than 1 properties",schema:1,parentSchema:schema36,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!((((((((key0 === "name") || (key0 === "username")) || (key0 === "email")) || (key0 === "password")) || (key0 === "current_password")) || (key0 === "private")) || (key0 === "image")) || (key0 === "remove_image"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema36,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.name !== undefined){
let data0 = data.name;
if(typeof data0 !== "string"){
const err2 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema36.properties.name.type,parentSchema:schema36.properties.name,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
const _errs4 = errors;
let valid1 = true;
const _errs5 = errors;
if(typeof data0 === "string"){
if(func1(data0) > 100){
const err3 = {};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
var _valid0 = _errs5 === errors;
errors = _errs4;
if(vErrors !== null){
if(_errs4){
vErrors.length = _errs4;
}
else {
vErrors = null;
}
}
let ifClause0;
if(_valid0){
const _errs6 = errors;
if(typeof data0 === "string"){
if(func1(data0) < 1){
const err4 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/then/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema36.properties.name.then,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
var _valid0 = _errs6 === errors;
valid1 = _valid0;
ifClause0 = "then";
}
else {
const _errs7 = errors;
if(typeof data0 === "string"){
if(func1(data0) > 100){
const err5 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/else/maxLength",keyword:"maxLength",params:{limit: 100},message:"must NOT have more than 100 characters",schema:100,parentSchema:schema36.properties.name.else,data:data0};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
var _valid0 = _errs7 === errors;
valid1 = _valid0;
ifClause0 = "else";
}
if(!valid1){
const err6 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/if",keyword:"if",params:{failingKeyword: ifClause0},message:"must match \""+ifClause0+"\" schema",schema:schema36.properties.name.if,parentSchema:schema36.properties.name,data:data0};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.username !== undefined){
let data1 = data.username;
if(typeof data1 !== "string"){
const err7 = {instancePath:instancePath+"/username",schemaPath:"#/properties/username/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema36.properties.username.type,parentSchema:schema36.properties.username,data:data1};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
const _errs10 = errors;
let valid2 = true;
const _errs11 = errors;
if(typeof data1 === "string"){
if(func1(data1) > 50){
const err8 = {};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
var _valid1 = _errs11 === errors;
errors = _errs10;
if(vErrors !== null){
if(_errs10){
vErrors.length = _errs10;
}
else {
vErrors = null;
}
}
let ifClause1;
if(_valid1){
const _errs12 = errors;
if(typeof data1 === "string"){
if(func1(data1) < 1){
const err9 = {instancePath:instancePath+"/username",schemaPath:"#/properties/username/then/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema36.properties.username.then,data:data1};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(!pattern4.test(data1)){
const err10 = {instancePath:instancePath+"/username",schemaPath:"#/properties/username/then/pattern",keyword:"pattern",params:{pattern: "^[^\\x00-\\x20\\x7f-\\xa0\\xad]+$"},message:"must match pattern \""+"^[^\\x00-\\x20\\x7f-\\xa0\\xad]+$"+"\"",schema:"^[^\\x00-\\x20\\x7f-\\xa0\\xad]+$",parentSchema:schema36.properties.username.then,data:data1};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
var _valid1 = _errs12 === errors;
valid2 = _valid1;
ifClause1 = "then";
}
else {
const _errs13 = errors;
if(typeof data1 === "string"){
if(func1(data1) > 50){
const err11 = {instancePath:instancePath+"/username",schemaPath:"#/properties/username/else/maxLength",keyword:"maxLength",params:{limit: 50},message:"must NOT have more than 50 characters",schema:50,parentSchema:schema36.properties.username.else,data:data1};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
var _valid1 = _errs13 === errors;
valid2 = _valid1;
ifClause1 = "else";
}
if(!valid2){
const err12 = {instancePath:instancePath+"/username",schemaPath:"#/properties/username/if",keyword:"if",params:{failingKeyword: ifClause1},message:"must match \""+ifClause1+"\" schema",schema:schema36.properties.username.if,parentSchema:schema36.properties.username,data:data1};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
if(data.email !== undefined){
let data2 = data.email;
if(typeof data2 !== "string"){
const err13 = {instancePath:instancePath+"/email",schemaPath:"#/properties/email/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema36.properties.email.type,parentSchema:schema36.properties.email,data:data2};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
const _errs16 = errors;
let valid3 = true;
const _errs17 = errors;
if(typeof data2 === "string"){
if(func1(data2) > 254){
const err14 = {};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
var _valid2 = _errs17 === errors;
errors = _errs16;
if(vErrors !== null){
if(_errs16){
vErrors.length = _errs16;
}
else {
vErrors = null;
}
}
let ifClause2;
if(_valid2){
const _errs18 = errors;
if(typeof data2 === "string"){
if(func1(data2) < 1){
const err15 = {instancePath:instancePath+"/email",schemaPath:"#/properties/email/then/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema36.properties.email.then,data:data2};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
if(!pattern5.test(data2)){
const err16 = {instancePath:instancePath+"/email",schemaPath:"#/properties/email/then/pattern",keyword:"pattern",params:{pattern: "^[\\x09-\\x0d\\x20\\xa0]*[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?[\\x09-\\x0d\\x20\\xa0]*$"},message:"must match pattern \""+"^[\\x09-\\x0d\\x20\\xa0]*[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?[\\x09-\\x0d\\x20\\xa0]*$"+"\"",schema:"^[\\x09-\\x0d\\x20\\xa0]*[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?[\\x09-\\x0d\\x20\\xa0]*$",parentSchema:schema36.properties.email.then,data:data2};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
var _valid2 = _errs18 === errors;
valid3 = _valid2;
ifClause2 = "then";
}
else {
const _errs19 = errors;
if(typeof data2 === "string"){
if(func1(data2) > 254){
const err17 = {instancePath:instancePath+"/email",schemaPath:"#/properties/email/else/maxLength",keyword:"maxLength",params:{limit: 254},message:"must NOT have more than 254 characters",schema:254,parentSchema:schema36.properties.email.else,data:data2};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
var _valid2 = _errs19 === errors;
valid3 = _valid2;
ifClause2 = "else";
}
if(!valid3){
const err18 = {instancePath:instancePath+"/email",schemaPath:"#/properties/email/if",keyword:"if",params:{failingKeyword: ifClause2},message:"must match \""+ifClause2+"\" schema",schema:schema36.properties.email.if,parentSchema:schema36.properties.email,data:data2};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
if(data.password !== undefined){
let data3 = data.password;
const _errs22 = errors;
let valid4 = true;
const _errs23 = errors;
if(typeof data3 === "string"){
if(func1(data3) > 128){
const err19 = {};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
var _valid3 = _errs23 === errors;
errors = _errs22;
if(vErrors !== null){
if(_errs22){
vErrors.length = _errs22;
}
else {
vErrors = null;
}
}
let ifClause3;
if(_valid3){
const _errs24 = errors;
if(typeof data3 === "string"){
if(func1(data3) < 12){
const err20 = {instancePath:instancePath+"/password",schemaPath:"#/properties/password/then/minLength",keyword:"minLength",params:{limit: 12},message:"must NOT have fewer than 12 characters",schema:12,parentSchema:schema36.properties.password.then,data:data3};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
if(!pattern6.test(data3)){
const err21 = {instancePath:instancePath+"/password",schemaPath:"#/properties/password/then/pattern",keyword:"pattern",params:{pattern: "^[^\\x00]*$"},message:"must match pattern \""+"^[^\\x00]*$"+"\"",schema:"^[^\\x00]*$",parentSchema:schema36.properties.password.then,data:data3};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
var _valid3 = _errs24 === errors;
valid4 = _valid3;
ifClause3 = "then";
}
else {
const _errs25 = errors;
if(typeof data3 === "string"){
if(func1(data3) > 128){
const err22 = {instancePath:instancePath+"/password",schemaPath:"#/properties/password/else/maxLength",keyword:"maxLength",params:{limit: 128},message:"must NOT have more than 128 characters",schema:128,parentSchema:schema36.properties.password.else,data:data3};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
var _valid3 = _errs25 === errors;
valid4 = _valid3;
ifClause3 = "else";
}
if(!valid4){
const err23 = {instancePath:instancePath+"/password",schemaPath:"#/properties/password/if",keyword:"if",params:{failingKeyword: ifClause3},message:"must match \""+ifClause3+"\" schema",schema:schema36.properties.password.if,parentSchema:schema36.properties.password,data:data3};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
if(!(typeof data3 === "string")){
const err24 = {instancePath:instancePath+"/password",schemaPath:"#/properties/password/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema36.properties.password.type,parentSchema:schema36.properties.password,data:data3};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
if(data.current_password !== undefined){
let data4 = data.current_password;
const _errs28 = errors;
let valid5 = true;
const _errs29 = errors;
if(typeof data4 === "string"){
if(func1(data4) > 128){
const err25 = {};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
var _valid4 = _errs29 === errors;
errors = _errs28;
if(vErrors !== null){
if(_errs28){
vErrors.length = _errs28;
}
else {
vErrors = null;
}
}
let ifClause4;
if(_valid4){
const _errs30 = errors;
if(typeof data4 === "string"){
if(func1(data4) < 1){
const err26 = {instancePath:instancePath+"/current_password",schemaPath:"#/properties/current_password/then/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema36.properties.current_password.then,data:data4};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
if(!pattern6.test(data4)){
const err27 = {instancePath:instancePath+"/current_password",schemaPath:"#/properties/current_password/then/pattern",keyword:"pattern",params:{pattern: "^[^\\x00]*$"},message:"must match pattern \""+"^[^\\x00]*$"+"\"",schema:"^[^\\x00]*$",parentSchema:schema36.properties.current_password.then,data:data4};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
var _valid4 = _errs30 === errors;
valid5 = _valid4;
ifClause4 = "then";
}
else {
const _errs31 = errors;
if(typeof data4 === "string"){
if(func1(data4) > 128){
const err28 = {instancePath:instancePath+"/current_password",schemaPath:"#/properties/current_password/else/maxLength",keyword:"maxLength",params:{limit: 128},message:"must NOT have more than 128 characters",schema:128,parentSchema:schema36.properties.current_password.else,data:data4};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
var _valid4 = _errs31 === errors;
valid5 = _valid4;
ifClause4 = "else";
}
if(!valid5){
const err29 = {instancePath:instancePath+"/current_password",schemaPath:"#/properties/current_password/if",keyword:"if",params:{failingKeyword: ifClause4},message:"must match \""+ifClause4+"\" schema",schema:schema36.properties.current_password.if,parentSchema:schema36.properties.current_password,data:data4};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
if(!(typeof data4 === "string")){
const err30 = {instancePath:instancePath+"/current_password",schemaPath:"#/properties/current_password/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema36.properties.current_password.type,parentSchema:schema36.properties.current_password,data:data4};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
}
if(data.private !== undefined){
let data5 = data.private;
if(typeof data5 !== "boolean"){
const err31 = {instancePath:instancePath+"/private",schemaPath:"#/properties/private/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema36.properties.private.type,parentSchema:schema36.properties.private,data:data5};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
}
if(data.remove_image !== undefined){
let data6 = data.remove_image;
if(typeof data6 !== "boolean"){
const err32 = {instancePath:instancePath+"/remove_image",schemaPath:"#/properties/remove_image/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema36.properties.remove_image.type,parentSchema:schema36.properties.remove_image,data:data6};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
}
else {
const err33 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema36.type,parentSchema:schema36,data};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
validate25.errors = vErrors;
return errors === 0;
}
validate25.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

exports.validate6 = validate26;
const schema37 = {"description":"The authenticated user's password, which confirms the deletion of the account.","type":"object","additionalProperties":false,"required":["password"],"properties":{"password":{"description":"The authenticated user's current password, compared verbatim, including whitespace.","type":"string","format":"password","examples":["Teal-Lantern_58"],"if":{"maxLength":128},"then":{"minLength":1,"pattern":"^[^\\x00]*$"},"else":{"maxLength":128}}}};

function validate26(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate26.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.password === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "password"},message:"must have required property '"+"password"+"'",schema:schema37.required,parentSchema:schema37,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(key0 === "password")){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema37,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.password !== undefined){
let data0 = data.password;
const _errs4 = errors;
let valid1 = true;
const _errs5 = errors;
if(typeof data0 === "string"){
if(func1(data0) > 128){
const err2 = {};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
var _valid0 = _errs5 === errors;
errors = _errs4;
if(vErrors !== null){
if(_errs4){
vErrors.length = _errs4;
}
else {
vErrors = null;
}
}
let ifClause0;
if(_valid0){
const _errs6 = errors;
if(typeof data0 === "string"){
if(func1(data0) < 1){
const err3 = {instancePath:instancePath+"/password",schemaPath:"#/properties/password/then/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema37.properties.password.then,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(!pattern6.test(data0)){
const err4 = {instancePath:instancePath+"/password",schemaPath:"#/properties/password/then/pattern",keyword:"pattern",params:{pattern: "^[^\\x00]*$"},message:"must match pattern \""+"^[^\\x00]*$"+"\"",schema:"^[^\\x00]*$",parentSchema:schema37.properties.password.then,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
var _valid0 = _errs6 === errors;
valid1 = _valid0;
ifClause0 = "then";
}
else {
const _errs7 = errors;
if(typeof data0 === "string"){
if(func1(data0) > 128){
const err5 = {instancePath:instancePath+"/password",schemaPath:"#/properties/password/else/maxLength",keyword:"maxLength",params:{limit: 128},message:"must NOT have more than 128 characters",schema:128,parentSchema:schema37.properties.password.else,data:data0};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
var _valid0 = _errs7 === errors;
valid1 = _valid0;
ifClause0 = "else";
}
if(!valid1){
const err6 = {instancePath:instancePath+"/password",schemaPath:"#/properties/password/if",keyword:"if",params:{failingKeyword: ifClause0},message:"must match \""+ifClause0+"\" schema",schema:schema37.properties.password.if,parentSchema:schema37.properties.password,data:data0};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(!(typeof data0 === "string")){
const err7 = {instancePath:instancePath+"/password",schemaPath:"#/properties/password/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema37.properties.password.type,parentSchema:schema37.properties.password,data:data0};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
else {
const err8 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema37.type,parentSchema:schema37,data};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
validate26.errors = vErrors;
return errors === 0;
}
validate26.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

exports.validate7 = validate27;
const schema38 = {"type":"object","properties":{"id":{"description":"The id of a user or a post.","type":"integer","format":"int64","minimum":1,"maximum":9007199254740991,"examples":[7]}},"required":["id"],"additionalProperties":false};

function validate27(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate27.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.id === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "id"},message:"must have required property '"+"id"+"'",schema:schema38.required,parentSchema:schema38,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(key0 === "id")){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema38,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.id !== undefined){
let data0 = data.id;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err2 = {instancePath:instancePath+"/id",schemaPath:"#/properties/id/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema38.properties.id.type,parentSchema:schema38.properties.id,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 9007199254740991 || isNaN(data0)){
const err3 = {instancePath:instancePath+"/id",schemaPath:"#/properties/id/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema38.properties.id,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data0 < 1 || isNaN(data0)){
const err4 = {instancePath:instancePath+"/id",schemaPath:"#/properties/id/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema38.properties.id,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
}
else {
const err5 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema38.type,parentSchema:schema38,data};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
validate27.errors = vErrors;
return errors === 0;
}
validate27.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

exports.validate8 = validate28;
const schema39 = {"type":"object","properties":{"filename":{"type":"string"}},"required":["filename"],"additionalProperties":false};

function validate28(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate28.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.filename === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "filename"},message:"must have required property '"+"filename"+"'",schema:schema39.required,parentSchema:schema39,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(key0 === "filename")){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema39,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.filename !== undefined){
let data0 = data.filename;
if(typeof data0 !== "string"){
const err2 = {instancePath:instancePath+"/filename",schemaPath:"#/properties/filename/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema39.properties.filename.type,parentSchema:schema39.properties.filename,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema39.type,parentSchema:schema39,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate28.errors = vErrors;
return errors === 0;
}
validate28.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

exports.validate9 = validate29;
const schema40 = {"type":"object","properties":{"If-None-Match":{"type":"string"}},"required":[],"additionalProperties":false};

function validate29(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate29.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(key0 === "If-None-Match")){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema40,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data["If-None-Match"] !== undefined){
let data0 = data["If-None-Match"];
if(typeof data0 !== "string"){
const err1 = {instancePath:instancePath+"/If-None-Match",schemaPath:"#/properties/If-None-Match/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema40.properties["If-None-Match"].type,parentSchema:schema40.properties["If-None-Match"],data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
}
else {
const err2 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema40.type,parentSchema:schema40,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
validate29.errors = vErrors;
return errors === 0;
}
validate29.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

exports.validate10 = validate30;
const schema41 = {"type":"object","properties":{"limit":{"type":"integer","format":"int32","minimum":1,"maximum":100,"default":20},"offset":{"type":"integer","format":"int32","minimum":0,"maximum":2147483647},"cursor":{"type":"string","if":{"maxLength":100},"then":{"pattern":"^[A-Za-z0-9_-]+$"},"else":{"maxLength":100}}},"required":[],"additionalProperties":false};
const pattern14 = new RegExp("^[A-Za-z0-9_-]+$", "u");

function validate30(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate30.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(((key0 === "limit") || (key0 === "offset")) || (key0 === "cursor"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema41,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.limit !== undefined){
let data0 = data.limit;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err1 = {instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema41.properties.limit.type,parentSchema:schema41.properties.limit,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 100 || isNaN(data0)){
const err2 = {instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100},message:"must be <= 100",schema:100,parentSchema:schema41.properties.limit,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data0 < 1 || isNaN(data0)){
const err3 = {instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema41.properties.limit,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
if(data.offset !== undefined){
let data1 = data.offset;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err4 = {instancePath:instancePath+"/offset",schemaPath:"#/properties/offset/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema41.properties.offset.type,parentSchema:schema41.properties.offset,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 2147483647 || isNaN(data1)){
const err5 = {instancePath:instancePath+"/offset",schemaPath:"#/properties/offset/maximum",keyword:"maximum",params:{comparison: "<=", limit: 2147483647},message:"must be <= 2147483647",schema:2147483647,parentSchema:schema41.properties.offset,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(data1 < 0 || isNaN(data1)){
const err6 = {instancePath:instancePath+"/offset",schemaPath:"#/properties/offset/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema41.properties.offset,data:data1};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
if(data.cursor !== undefined){
let data2 = data.cursor;
if(typeof data2 !== "string"){
const err7 = {instancePath:instancePath+"/cursor",schemaPath:"#/properties/cursor/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema41.properties.cursor.type,parentSchema:schema41.properties.cursor,data:data2};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
const _errs8 = errors;
let valid1 = true;
const _errs9 = errors;
if(typeof data2 === "string"){
if(func1(data2) > 100){
const err8 = {};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
var _valid0 = _errs9 === errors;
errors = _errs8;
if(vErrors !== null){
if(_errs8){
vErrors.length = _errs8;
}
else {
vErrors = null;
}
}
let ifClause0;
if(_valid0){
const _errs10 = errors;
if(typeof data2 === "string"){
if(!pattern14.test(data2)){
const err9 = {instancePath:instancePath+"/cursor",schemaPath:"#/properties/cursor/then/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z0-9_-]+$"},message:"must match pattern \""+"^[A-Za-z0-9_-]+$"+"\"",schema:"^[A-Za-z0-9_-]+$",parentSchema:schema41.properties.cursor.then,data:data2};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
var _valid0 = _errs10 === errors;
valid1 = _valid0;
ifClause0 = "then";
}
else {
const _errs11 = errors;
if(typeof data2 === "string"){
if(func1(data2) > 100){
const err10 = {instancePath:instancePath+"/cursor",schemaPath:"#/properties/cursor/else/maxLength",keyword:"maxLength",params:{limit: 100},message:"must NOT have more than 100 characters",schema:100,parentSchema:schema41.properties.cursor.else,data:data2};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
var _valid0 = _errs11 === errors;
valid1 = _valid0;
ifClause0 = "else";
}
if(!valid1){
const err11 = {instancePath:instancePath+"/cursor",schemaPath:"#/properties/cursor/if",keyword:"if",params:{failingKeyword: ifClause0},message:"must match \""+ifClause0+"\" schema",schema:schema41.properties.cursor.if,parentSchema:schema41.properties.cursor,data:data2};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
else {
const err12 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema41.type,parentSchema:schema41,data};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
validate30.errors = vErrors;
return errors === 0;
}
validate30.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

exports.validate11 = validate31;
const schema42 = {"type":"object","properties":{"Idempotency-Key":{"type":"string","if":{"maxLength":255},"then":{"minLength":1,"pattern":"^[!-~]*$"},"else":{"maxLength":255}}},"required":[],"additionalProperties":false};
const pattern15 = new RegExp("^[!-~]*$", "u");

function validate31(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate31.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(key0 === "Idempotency-Key")){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema42,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data["Idempotency-Key"] !== undefined){
let data0 = data["Idempotency-Key"];
if(typeof data0 !== "string"){
const err1 = {instancePath:instancePath+"/Idempotency-Key",schemaPath:"#/properties/Idempotency-Key/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema42.properties["Idempotency-Key"].type,parentSchema:schema42.properties["Idempotency-Key"],data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
const _errs4 = errors;
let valid1 = true;
const _errs5 = errors;
if(typeof data0 === "string"){
if(func1(data0) > 255){
const err2 = {};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
var _valid0 = _errs5 === errors;
errors = _errs4;
if(vErrors !== null){
if(_errs4){
vErrors.length = _errs4;
}
else {
vErrors = null;
}
}
let ifClause0;
if(_valid0){
const _errs6 = errors;
if(typeof data0 === "string"){
if(func1(data0) < 1){
const err3 = {instancePath:instancePath+"/Idempotency-Key",schemaPath:"#/properties/Idempotency-Key/then/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema42.properties["Idempotency-Key"].then,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(!pattern15.test(data0)){
const err4 = {instancePath:instancePath+"/Idempotency-Key",schemaPath:"#/properties/Idempotency-Key/then/pattern",keyword:"pattern",params:{pattern: "^[!-~]*$"},message:"must match pattern \""+"^[!-~]*$"+"\"",schema:"^[!-~]*$",parentSchema:schema42.properties["Idempotency-Key"].then,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
var _valid0 = _errs6 === errors;
valid1 = _valid0;
ifClause0 = "then";
}
else {
const _errs7 = errors;
if(typeof data0 === "string"){
if(func1(data0) > 255){
const err5 = {instancePath:instancePath+"/Idempotency-Key",schemaPath:"#/properties/Idempotency-Key/else/maxLength",keyword:"maxLength",params:{limit: 255},message:"must NOT have more than 255 characters",schema:255,parentSchema:schema42.properties["Idempotency-Key"].else,data:data0};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
var _valid0 = _errs7 === errors;
valid1 = _valid0;
ifClause0 = "else";
}
if(!valid1){
const err6 = {instancePath:instancePath+"/Idempotency-Key",schemaPath:"#/properties/Idempotency-Key/if",keyword:"if",params:{failingKeyword: ifClause0},message:"must match \""+ifClause0+"\" schema",schema:schema42.properties["Idempotency-Key"].if,parentSchema:schema42.properties["Idempotency-Key"],data:data0};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
else {
const err7 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema42.type,parentSchema:schema42,data};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
validate31.errors = vErrors;
return errors === 0;
}
validate31.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

exports.validate12 = validate32;
const schema43 = {"description":"A new post.","type":"object","additionalProperties":false,"required":["title","text"],"properties":{"title":{"description":"The title of a post, at most 200 characters, stored verbatim. It must not contain NUL (U+0000) or U+FFFD, and at least one character must be visible.","type":"string","examples":["First swim of the year"],"if":{"maxLength":200},"then":{"minLength":1},"else":{"maxLength":200}},"text":{"description":"The text of a post, at most 10,000 characters, stored verbatim. It must not contain NUL (U+0000) or U+FFFD, and at least one character must be visible.","type":"string","examples":["Four degrees in the water. Worth it."],"if":{"maxLength":10000},"then":{"minLength":1},"else":{"maxLength":10000}},"image":{}}};

function validate32(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate32.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.title === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "title"},message:"must have required property '"+"title"+"'",schema:schema43.required,parentSchema:schema43,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.text === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "text"},message:"must have required property '"+"text"+"'",schema:schema43.required,parentSchema:schema43,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!(((key0 === "title") || (key0 === "text")) || (key0 === "image"))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema43,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.title !== undefined){
let data0 = data.title;
if(typeof data0 !== "string"){
const err3 = {instancePath:instancePath+"/title",schemaPath:"#/properties/title/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema43.properties.title.type,parentSchema:schema43.properties.title,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
const _errs4 = errors;
let valid1 = true;
const _errs5 = errors;
if(typeof data0 === "string"){
if(func1(data0) > 200){
const err4 = {};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
var _valid0 = _errs5 === errors;
errors = _errs4;
if(vErrors !== null){
if(_errs4){
vErrors.length = _errs4;
}
else {
vErrors = null;
}
}
let ifClause0;
if(_valid0){
const _errs6 = errors;
if(typeof data0 === "string"){
if(func1(data0) < 1){
const err5 = {instancePath:instancePath+"/title",schemaPath:"#/properties/title/then/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema43.properties.title.then,data:data0};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
var _valid0 = _errs6 === errors;
valid1 = _valid0;
ifClause0 = "then";
}
else {
const _errs7 = errors;
if(typeof data0 === "string"){
if(func1(data0) > 200){
const err6 = {instancePath:instancePath+"/title",schemaPath:"#/properties/title/else/maxLength",keyword:"maxLength",params:{limit: 200},message:"must NOT have more than 200 characters",schema:200,parentSchema:schema43.properties.title.else,data:data0};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
var _valid0 = _errs7 === errors;
valid1 = _valid0;
ifClause0 = "else";
}
if(!valid1){
const err7 = {instancePath:instancePath+"/title",schemaPath:"#/properties/title/if",keyword:"if",params:{failingKeyword: ifClause0},message:"must match \""+ifClause0+"\" schema",schema:schema43.properties.title.if,parentSchema:schema43.properties.title,data:data0};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.text !== undefined){
let data1 = data.text;
if(typeof data1 !== "string"){
const err8 = {instancePath:instancePath+"/text",schemaPath:"#/properties/text/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema43.properties.text.type,parentSchema:schema43.properties.text,data:data1};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
const _errs10 = errors;
let valid2 = true;
const _errs11 = errors;
if(typeof data1 === "string"){
if(func1(data1) > 10000){
const err9 = {};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
var _valid1 = _errs11 === errors;
errors = _errs10;
if(vErrors !== null){
if(_errs10){
vErrors.length = _errs10;
}
else {
vErrors = null;
}
}
let ifClause1;
if(_valid1){
const _errs12 = errors;
if(typeof data1 === "string"){
if(func1(data1) < 1){
const err10 = {instancePath:instancePath+"/text",schemaPath:"#/properties/text/then/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema43.properties.text.then,data:data1};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
var _valid1 = _errs12 === errors;
valid2 = _valid1;
ifClause1 = "then";
}
else {
const _errs13 = errors;
if(typeof data1 === "string"){
if(func1(data1) > 10000){
const err11 = {instancePath:instancePath+"/text",schemaPath:"#/properties/text/else/maxLength",keyword:"maxLength",params:{limit: 10000},message:"must NOT have more than 10000 characters",schema:10000,parentSchema:schema43.properties.text.else,data:data1};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
var _valid1 = _errs13 === errors;
valid2 = _valid1;
ifClause1 = "else";
}
if(!valid2){
const err12 = {instancePath:instancePath+"/text",schemaPath:"#/properties/text/if",keyword:"if",params:{failingKeyword: ifClause1},message:"must match \""+ifClause1+"\" schema",schema:schema43.properties.text.if,parentSchema:schema43.properties.text,data:data1};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
else {
const err13 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema43.type,parentSchema:schema43,data};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
validate32.errors = vErrors;
return errors === 0;
}
validate32.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

exports.validate13 = validate33;
const schema44 = {"description":"Changes to a post. Omitted fields remain unchanged.","type":"object","additionalProperties":false,"minProperties":1,"properties":{"title":{"description":"The title of a post, at most 200 characters, stored verbatim. It must not contain NUL (U+0000) or U+FFFD, and at least one character must be visible.","type":"string","examples":["First swim of the year"],"if":{"maxLength":200},"then":{"minLength":1},"else":{"maxLength":200}},"text":{"description":"The text of a post, at most 10,000 characters, stored verbatim. It must not contain NUL (U+0000) or U+FFFD, and at least one character must be visible.","type":"string","examples":["Four degrees in the water. Worth it."],"if":{"maxLength":10000},"then":{"minLength":1},"else":{"maxLength":10000}},"image":{},"remove_image":{"description":"Whether to remove the image of the post: `true` or `false`, case-insensitive. Must not be `true` if the form contains `image`.","type":"boolean"}}};

function validate33(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate33.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(Object.keys(data).length < 1){
const err0 = {instancePath,schemaPath:"#/minProperties",keyword:"minProperties",params:{limit: 1},message:"must NOT have fewer than 1 properties",schema:1,parentSchema:schema44,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!((((key0 === "title") || (key0 === "text")) || (key0 === "image")) || (key0 === "remove_image"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema44,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.title !== undefined){
let data0 = data.title;
if(typeof data0 !== "string"){
const err2 = {instancePath:instancePath+"/title",schemaPath:"#/properties/title/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema44.properties.title.type,parentSchema:schema44.properties.title,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
const _errs4 = errors;
let valid1 = true;
const _errs5 = errors;
if(typeof data0 === "string"){
if(func1(data0) > 200){
const err3 = {};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
var _valid0 = _errs5 === errors;
errors = _errs4;
if(vErrors !== null){
if(_errs4){
vErrors.length = _errs4;
}
else {
vErrors = null;
}
}
let ifClause0;
if(_valid0){
const _errs6 = errors;
if(typeof data0 === "string"){
if(func1(data0) < 1){
const err4 = {instancePath:instancePath+"/title",schemaPath:"#/properties/title/then/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema44.properties.title.then,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
var _valid0 = _errs6 === errors;
valid1 = _valid0;
ifClause0 = "then";
}
else {
const _errs7 = errors;
if(typeof data0 === "string"){
if(func1(data0) > 200){
const err5 = {instancePath:instancePath+"/title",schemaPath:"#/properties/title/else/maxLength",keyword:"maxLength",params:{limit: 200},message:"must NOT have more than 200 characters",schema:200,parentSchema:schema44.properties.title.else,data:data0};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
var _valid0 = _errs7 === errors;
valid1 = _valid0;
ifClause0 = "else";
}
if(!valid1){
const err6 = {instancePath:instancePath+"/title",schemaPath:"#/properties/title/if",keyword:"if",params:{failingKeyword: ifClause0},message:"must match \""+ifClause0+"\" schema",schema:schema44.properties.title.if,parentSchema:schema44.properties.title,data:data0};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.text !== undefined){
let data1 = data.text;
if(typeof data1 !== "string"){
const err7 = {instancePath:instancePath+"/text",schemaPath:"#/properties/text/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema44.properties.text.type,parentSchema:schema44.properties.text,data:data1};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
const _errs10 = errors;
let valid2 = true;
const _errs11 = errors;
if(typeof data1 === "string"){
if(func1(data1) > 10000){
const err8 = {};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
var _valid1 = _errs11 === errors;
errors = _errs10;
if(vErrors !== null){
if(_errs10){
vErrors.length = _errs10;
}
else {
vErrors = null;
}
}
let ifClause1;
if(_valid1){
const _errs12 = errors;
if(typeof data1 === "string"){
if(func1(data1) < 1){
const err9 = {instancePath:instancePath+"/text",schemaPath:"#/properties/text/then/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema44.properties.text.then,data:data1};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
var _valid1 = _errs12 === errors;
valid2 = _valid1;
ifClause1 = "then";
}
else {
const _errs13 = errors;
if(typeof data1 === "string"){
if(func1(data1) > 10000){
const err10 = {instancePath:instancePath+"/text",schemaPath:"#/properties/text/else/maxLength",keyword:"maxLength",params:{limit: 10000},message:"must NOT have more than 10000 characters",schema:10000,parentSchema:schema44.properties.text.else,data:data1};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
var _valid1 = _errs13 === errors;
valid2 = _valid1;
ifClause1 = "else";
}
if(!valid2){
const err11 = {instancePath:instancePath+"/text",schemaPath:"#/properties/text/if",keyword:"if",params:{failingKeyword: ifClause1},message:"must match \""+ifClause1+"\" schema",schema:schema44.properties.text.if,parentSchema:schema44.properties.text,data:data1};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data.remove_image !== undefined){
let data2 = data.remove_image;
if(typeof data2 !== "boolean"){
const err12 = {instancePath:instancePath+"/remove_image",schemaPath:"#/properties/remove_image/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema44.properties.remove_image.type,parentSchema:schema44.properties.remove_image,data:data2};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
else {
const err13 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema44.type,parentSchema:schema44,data};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
validate33.errors = vErrors;
return errors === 0;
}
validate33.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

exports.validate14 = validate34;
const schema45 = {"type":"object","properties":{"to":{"description":"The id of a user or a post.","type":"integer","format":"int64","minimum":1,"maximum":9007199254740991,"examples":[7]}},"required":["to"],"additionalProperties":false};

function validate34(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate34.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.to === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "to"},message:"must have required property '"+"to"+"'",schema:schema45.required,parentSchema:schema45,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(key0 === "to")){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema45,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.to !== undefined){
let data0 = data.to;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err2 = {instancePath:instancePath+"/to",schemaPath:"#/properties/to/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema45.properties.to.type,parentSchema:schema45.properties.to,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 9007199254740991 || isNaN(data0)){
const err3 = {instancePath:instancePath+"/to",schemaPath:"#/properties/to/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema45.properties.to,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data0 < 1 || isNaN(data0)){
const err4 = {instancePath:instancePath+"/to",schemaPath:"#/properties/to/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema45.properties.to,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
}
else {
const err5 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema45.type,parentSchema:schema45,data};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
validate34.errors = vErrors;
return errors === 0;
}
validate34.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

exports.validate15 = validate35;
const schema46 = {"type":"object","properties":{"from":{"description":"The id of a user or a post.","type":"integer","format":"int64","minimum":1,"maximum":9007199254740991,"examples":[7]}},"required":["from"],"additionalProperties":false};

function validate35(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate35.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.from === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "from"},message:"must have required property '"+"from"+"'",schema:schema46.required,parentSchema:schema46,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(key0 === "from")){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema46,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.from !== undefined){
let data0 = data.from;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err2 = {instancePath:instancePath+"/from",schemaPath:"#/properties/from/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema46.properties.from.type,parentSchema:schema46.properties.from,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 9007199254740991 || isNaN(data0)){
const err3 = {instancePath:instancePath+"/from",schemaPath:"#/properties/from/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema46.properties.from,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data0 < 1 || isNaN(data0)){
const err4 = {instancePath:instancePath+"/from",schemaPath:"#/properties/from/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema46.properties.from,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
}
else {
const err5 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema46.type,parentSchema:schema46,data};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
validate35.errors = vErrors;
return errors === 0;
}
validate35.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

exports.validate16 = validate36;
const schema47 = {"type":"object","properties":{"me":{"description":"The id of a user or a post.","type":"integer","format":"int64","minimum":1,"maximum":9007199254740991,"examples":[7]},"them":{"description":"The id of a user or a post.","type":"integer","format":"int64","minimum":1,"maximum":9007199254740991,"examples":[7]}},"required":["me","them"],"additionalProperties":false};

function validate36(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate36.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.me === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "me"},message:"must have required property '"+"me"+"'",schema:schema47.required,parentSchema:schema47,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.them === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "them"},message:"must have required property '"+"them"+"'",schema:schema47.required,parentSchema:schema47,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!((key0 === "me") || (key0 === "them"))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema47,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.me !== undefined){
let data0 = data.me;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err3 = {instancePath:instancePath+"/me",schemaPath:"#/properties/me/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema47.properties.me.type,parentSchema:schema47.properties.me,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 9007199254740991 || isNaN(data0)){
const err4 = {instancePath:instancePath+"/me",schemaPath:"#/properties/me/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema47.properties.me,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(data0 < 1 || isNaN(data0)){
const err5 = {instancePath:instancePath+"/me",schemaPath:"#/properties/me/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema47.properties.me,data:data0};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
}
if(data.them !== undefined){
let data1 = data.them;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err6 = {instancePath:instancePath+"/them",schemaPath:"#/properties/them/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema47.properties.them.type,parentSchema:schema47.properties.them,data:data1};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 9007199254740991 || isNaN(data1)){
const err7 = {instancePath:instancePath+"/them",schemaPath:"#/properties/them/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema47.properties.them,data:data1};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if(data1 < 1 || isNaN(data1)){
const err8 = {instancePath:instancePath+"/them",schemaPath:"#/properties/them/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema47.properties.them,data:data1};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
}
}
else {
const err9 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema47.type,parentSchema:schema47,data};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
validate36.errors = vErrors;
return errors === 0;
}
validate36.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};


export const validators = {
  register: { query: exports.validate0, path: exports.validate0, header: exports.validate0, body: exports.validate1 },
  login: { query: exports.validate0, path: exports.validate0, header: exports.validate0, body: exports.validate2 },
  getCurrentAccount: { query: exports.validate0, path: exports.validate0, header: exports.validate0, body: exports.validate3 },
  verifySession: { query: exports.validate0, path: exports.validate0, header: exports.validate0, body: exports.validate3 },
  logout: { query: exports.validate0, path: exports.validate0, header: exports.validate0, body: exports.validate3 },
  listSessions: { query: exports.validate0, path: exports.validate0, header: exports.validate0, body: exports.validate3 },
  deleteOtherSessions: { query: exports.validate0, path: exports.validate0, header: exports.validate0, body: exports.validate3 },
  deleteSession: { query: exports.validate0, path: exports.validate4, header: exports.validate0, body: exports.validate3 },
  getOwnProfile: { query: exports.validate0, path: exports.validate0, header: exports.validate0, body: exports.validate3 },
  updateProfile: { query: exports.validate0, path: exports.validate0, header: exports.validate0, body: exports.validate5 },
  deleteAccount: { query: exports.validate0, path: exports.validate0, header: exports.validate0, body: exports.validate6 },
  getProfile: { query: exports.validate0, path: exports.validate7, header: exports.validate0, body: exports.validate3 },
  getProfileImage: { query: exports.validate0, path: exports.validate8, header: exports.validate9, body: exports.validate3 },
  listPosts: { query: exports.validate10, path: exports.validate0, header: exports.validate0, body: exports.validate3 },
  listOwnPosts: { query: exports.validate10, path: exports.validate0, header: exports.validate0, body: exports.validate3 },
  getPost: { query: exports.validate0, path: exports.validate7, header: exports.validate0, body: exports.validate3 },
  getPostImage: { query: exports.validate0, path: exports.validate8, header: exports.validate9, body: exports.validate3 },
  createPost: { query: exports.validate0, path: exports.validate0, header: exports.validate11, body: exports.validate12 },
  editPost: { query: exports.validate7, path: exports.validate0, header: exports.validate0, body: exports.validate13 },
  deletePost: { query: exports.validate7, path: exports.validate0, header: exports.validate0, body: exports.validate3 },
  likePost: { query: exports.validate7, path: exports.validate0, header: exports.validate0, body: exports.validate3 },
  unlikePost: { query: exports.validate7, path: exports.validate0, header: exports.validate0, body: exports.validate3 },
  listFriends: { query: exports.validate0, path: exports.validate0, header: exports.validate0, body: exports.validate3 },
  listFriendRequests: { query: exports.validate0, path: exports.validate0, header: exports.validate0, body: exports.validate3 },
  sendFriendRequest: { query: exports.validate14, path: exports.validate0, header: exports.validate0, body: exports.validate3 },
  acceptFriendRequest: { query: exports.validate15, path: exports.validate0, header: exports.validate0, body: exports.validate3 },
  declineFriendRequest: { query: exports.validate15, path: exports.validate0, header: exports.validate0, body: exports.validate3 },
  cancelFriendRequest: { query: exports.validate14, path: exports.validate0, header: exports.validate0, body: exports.validate3 },
  removeFriend: { query: exports.validate7, path: exports.validate0, header: exports.validate0, body: exports.validate3 },
  createRelationship: { query: exports.validate16, path: exports.validate0, header: exports.validate0, body: exports.validate3 },
};
