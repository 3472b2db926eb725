// Shared by the scripts: the gateway under test, and the one JSON document that each script prints.

export const URL_BASE = need("URL").replace(/\/$/, "");
export const TOKEN = process.env.TOKEN ?? "";
export const ENDPOINT = `${URL_BASE}/graphql`;

function need(name) {
  const value = process.env[name];
  if (!value) throw new Error(`set ${name} in the environment`);
  return value;
}

// Sends one operation without any client, before the script's client starts.
export async function send(query, variables = {}, token = TOKEN) {
  const response = await fetch(ENDPOINT, {
    method: "POST",
    headers: { "content-type": "application/json", ...authorization(token) },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = await response.json();
  if (errors) throw new Error(JSON.stringify(errors));
  return data;
}

export const authorization = (token = TOKEN) => (token ? { authorization: `Bearer ${token}` } : {});

export const CREATE_PIN = `mutation ($input: CreatePinInput!) {
  createPin(input: $input) { pin { id } errors { message } }
}`;

// Makes a board of the viewer with a pin a title. Returns {id, pins: [id, ...]}, newest last.
export async function makeBoard(name, titles, { token = TOKEN, image = null } = {}) {
  const { createBoard } = await send(
    `mutation ($input: CreateBoardInput!) {
      createBoard(input: $input) { board { id } errors { message } }
    }`,
    { input: { name } },
    token,
  );
  const id = createBoard.board.id;
  const pins = [];
  for (const title of titles) {
    const input = { boardId: id, title, image };
    const { createPin } = await send(CREATE_PIN, { input }, token);
    pins.push(createPin.pin.id);
  }
  return { id, pins };
}

// Returns the connection's nodes.
export const nodes = (connection) => connection.edges.map((edge) => edge.node);

function fail(error) {
  const [reason] = String(error.message ?? error).split("\n");
  process.stderr.write(`${error.stack ?? error}\n${reason}\n`, () => process.exit(1));
}

// Runs a script's body, prints what it saw as JSON, and exits. If it fails, the last line tells why.
export async function report(body) {
  process.on("uncaughtException", fail); // also a rejection that nothing awaits
  try {
    const seen = await body();
    process.stdout.write(`${JSON.stringify(seen)}\n`, () => process.exit(0));
  } catch (error) {
    fail(error);
  }
}
