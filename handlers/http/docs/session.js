/*
 * Synchronizes the page's authorization with the session: after a login, the page uses the new token, and when the session
 * ends, the page forgets the token. The token is only in memory. After a reload, requests are authenticated by the session
 * cookie. Local storage contains only whether a user has logged in. If so, the page asks the service which user it is.
 */

const SCHEME = 'bearerAuth';
export const LOGGED_IN = 'explorer-logged-in';

/** Operations that end the current session when they succeed. */
const SESSION_ENDING_OPERATIONS = new Set(['post /auth/logout', 'delete /profiles/me']);

/** Operations that may end the current session or change the username. */
const SESSION_CHANGING_OPERATIONS = new Set(['put /profiles/me', 'delete /auth/sessions/{id}']);

const setUsername = (username) => ({ type: 'session_username', payload: username });

/** Removes the token from the state of Swagger UI. */
const forgetToken = () => ({ type: 'logout', payload: [SCHEME] });

/** Forgets the token and the user. */
const forget = () => (system) => {
  localStorage.removeItem(LOGGED_IN);
  // Without a token, Swagger UI would throw a TypeError.
  if (readToken(system)) system.sessionActions.forgetToken();
  system.sessionActions.setUsername(undefined);
};

/** Logs out. Forgets the token and the user even if the service does not respond. */
const logOut = () => async (system) => {
  const response = send(system, 'POST', '/auth/logout');
  system.sessionActions.forget();
  await response;
};

/** Asks the service who is logged in, and shows the user. */
const refresh = () => async (system) => {
  const token = readToken(system);
  const response = await send(system, 'GET', '/auth/me');
  const account = response.ok ? await response.json() : undefined;
  if (token !== readToken(system)) return;
  if (account) system.sessionActions.setUsername(account.username);
  if (response.status !== 401) return;
  system.sessionActions.forget();
  if (token)
    system.errActions.newAuthErr({ authId: SCHEME, source: 'token', level: 'refused', message: 'Log in again.' });
};

const readToken = ({ authSelectors }) => authSelectors.authorized().getIn([SCHEME, 'value']);

/**
 * Sends a request with the page's token, or else with the cookie. If the service does not respond, returns a response with
 * status 0.
 */
function send(system, method, path) {
  const token = readToken(system);
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  return fetch(path, { method, headers }).catch(() => Response.error());
}

/** Updates the authorization after the response to an operation. */
function followResponse(system, operation, { ok, status, headers, body }) {
  const { authActions, sessionActions, specSelectors } = system;
  if (ok && operation === 'post /auth/login') {
    localStorage.setItem(LOGGED_IN, 'true');
    const schema = specSelectors.securityDefinitions().get(SCHEME);
    authActions.authorize({ [SCHEME]: { schema, value: body.token } });
  }
  if (ok && SESSION_CHANGING_OPERATIONS.has(operation)) sessionActions.refresh();
  // Not every 401 means that the session has ended: the response to a wrong password, for example, does not.
  const invalidToken = status === 401 && headers['www-authenticate']?.includes('error="invalid_token"');
  if (invalidToken || (ok && SESSION_ENDING_OPERATIONS.has(operation))) sessionActions.forget();
}

/** The button that has opened the dialog. */
let opener;

/** A plugin for Swagger UI that follows logins and logouts. */
export const session = () => ({
  statePlugins: {
    session: {
      actions: { setUsername, forgetToken, forget, logOut, refresh },
      reducers: { session_username: (state, { payload }) => state.set('username', payload) },
      selectors: {
        username: (state) => state.get('username'),
        /** Whether requests are authenticated by the cookie alone, as after a reload. The locks then stay open. */
        usesCookie: () => (system) => !readToken(system),
      },
    },
    auth: {
      wrapActions: {
        // Otherwise a keyboard user would lose their place when the dialog closes.
        showDefinitions: (show) => (definitions) => {
          show(definitions);
          if (definitions) opener = document.activeElement;
          else opener?.focus();
        },
        authorize: (authorize, system) => (credentials) => {
          system.errActions.clear({ authId: SCHEME });
          const { schema, value, ...rest } = credentials[SCHEME];
          // People also paste the whole header.
          const token = value.replace(/^\s*(Authorization:\s*)?(Bearer\s+)?/i, '').trim();
          authorize({ [SCHEME]: { ...rest, schema, value: token } });
          system.sessionActions.refresh();
        },
        // For the logout button in the dialog: forgetting the token is not enough, because the cookie would continue the
        // session.
        logout: (_, system) => () => system.sessionActions.logOut(),
      },
      wrapSelectors: {
        // The dialog does not offer the cookie, because only a login can set it.
        definitionsToAuthorize:
          (select) =>
          (...args) =>
            select(...args)?.filter((scheme) => !scheme.has('cookieAuth')),
      },
    },
    spec: {
      wrapActions: {
        setResponse: (setResponse, system) => (path, method, response) => {
          setResponse(path, method, response);
          // For 4xx and 5xx, the client of Swagger UI passes an error that contains the response.
          followResponse(system, `${method} ${path}`, response.err?.response ?? response);
        },
      },
    },
  },
  afterLoad(system) {
    if (localStorage.getItem(LOGGED_IN)) system.sessionActions.refresh();
  },
});
