-- psql runs this file when the container creates its database cluster. The service's role owns one database, and is no superuser.
\set password `cat /run/secrets/postgres-service-password`
CREATE ROLE social LOGIN PASSWORD :'password';
CREATE DATABASE social OWNER social;
