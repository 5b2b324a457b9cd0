/*
 * Keeps the page's authorization in step with the session: a login authorizes the page, and when the session ends, the page
 * forgets the token. The page never stores the token. After a reload the cookie continues the session: the page stores
 * only that a user has logged in, and asks the service which one.
 */

const SCHEME = 'bearerAuth';
const LOGGED_IN = 'explorer-logged-in';

/** Operations that end the current session when they succeed. */
const SESSION_ENDING_OPERATIONS = new Set(['post /auth/logout', 'delete /profiles/me']);

/** The update of a profile may also change the username. */
const MAY_END_SESSION = new Set(['put /profiles/me', 'delete /auth/sessions/{id}']);

const setUsername = (username) => ({ type: 'session_username', payload: username });

/** Removes the token from Swagger UI's state. */
const forgetToken = () => ({ type: 'logout', payload: [SCHEME] });

/** Forgets who is logged in. */
const forget = () => (system) => {
  localStorage.removeItem(LOGGED_IN);
  system.sessionActions.forgetToken();
  system.sessionActions.setUsername(undefined);
};

/** Logs out. Forgets the token even if the service does not respond. */
const logOut = () => async (system) => {
  const response = send(system, 'POST', '/auth/logout');
  system.sessionActions.forget();
  await response;
};

/** Asks the service who is logged in. */
const refresh = () => async (system) => {
  const token = readToken(system);
  const response = await send(system, 'GET', '/auth/me');
  if (token !== readToken(system)) return;
  if (response.ok) system.sessionActions.setUsername((await response.json()).username);
  if (response.status !== 401) return;
  system.sessionActions.forget();
  if (token)
    system.errActions.newAuthErr({ authId: SCHEME, source: 'token', level: 'refused', message: 'Log in again.' });
};

const readToken = ({ authSelectors }) => authSelectors.authorized().getIn([SCHEME, 'value']);

/** Sends a request with the page's token, or with the cookie. If there is no response, returns one with status 0. */
function send(system, method, path) {
  const token = readToken(system);
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  return fetch(path, { method, headers }).catch(() => Response.error());
}

function followResponse(system, operation, { ok, status, headers, body }) {
  const { authActions, sessionActions, specSelectors } = system;
  if (ok && operation === 'post /auth/login') {
    localStorage.setItem(LOGGED_IN, 'true');
    const schema = specSelectors.securityDefinitions().get(SCHEME);
    authActions.authorize({ [SCHEME]: { schema, value: body.token } });
  }
  if (ok && MAY_END_SESSION.has(operation)) sessionActions.refresh();
  // A 401 for a wrong password does not contain this error.
  const invalidToken = status === 401 && headers['www-authenticate']?.includes('error="invalid_token"');
  if (invalidToken || (ok && SESSION_ENDING_OPERATIONS.has(operation))) sessionActions.forget();
}

/** A plugin of Swagger UI that follows logins and logouts. */
export const session = () => ({
  statePlugins: {
    session: {
      actions: { setUsername, forgetToken, forget, logOut, refresh },
      reducers: { session_username: (state, { payload }) => state.set('username', payload) },
      selectors: { username: (state) => state.get('username') },
    },
    auth: {
      wrapActions: {
        authorize: (authorize, system) => (credentials) => {
          system.errActions.clear({ authId: SCHEME });
          authorize(credentials);
          system.sessionActions.refresh();
        },
        // The logout button in the dialog. If it only forgot the token, the cookie would continue the session.
        logout: (_, system) => () => system.sessionActions.logOut(),
      },
      wrapSelectors: {
        // Only login can set the cookie.
        definitionsToAuthorize:
          (select) =>
          (...given) =>
            select(...given)?.filter((scheme) => !scheme.has('cookieAuth')),
      },
    },
    spec: {
      wrapActions: {
        setResponse: (setResponse, system) => (path, method, response) => {
          setResponse(path, method, response);
          // Swagger UI's client throws an error for 4xx and 5xx.
          followResponse(system, `${method} ${path}`, response.err?.response ?? response);
        },
      },
    },
  },
  afterLoad(system) {
    if (localStorage.getItem(LOGGED_IN)) system.sessionActions.refresh();
  },
});
