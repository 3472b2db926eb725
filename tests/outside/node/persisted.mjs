// Runs Apollo's persisted-query link and urql's persistedExchange: each sends a hash first, the hash
// with the document after the refusal, and then the hash alone, also in a second client.
import { createHash } from "node:crypto";
import { ApolloClient, gql as apolloGql, HttpLink, InMemoryCache } from "@apollo/client";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { Client, fetchExchange, gql } from "@urql/core";
import { persistedExchange } from "@urql/exchange-persisted";
import { authorization, ENDPOINT, report } from "./support.mjs";

// A document that no other part has registered.
const queryOf = (part) => `query ${part}($name: String!) { user(username: $name) { username } }`;
const NAME = { name: "demo" };
const sha256 = async (text) => createHash("sha256").update(text).digest("hex");

// Counts the requests by what they carry.
function counting() {
  const sent = [];
  const counted = async (url, options = {}) => {
    const { searchParams } = new URL(url);
    const body = options.body ? JSON.parse(options.body) : Object.fromEntries(searchParams);
    const extensions = typeof body.extensions === "string" ? JSON.parse(body.extensions) : body.extensions;
    const parts = [body.query && "document", extensions?.persistedQuery && "hash"];
    sent.push(`${options.method ?? "GET"} ${parts.filter(Boolean).join(" and ")}`);
    return fetch(url, options);
  };
  return { sent, counted };
}

async function apollo(part, byGet) {
  const { sent, counted } = counting();
  const names = [];
  for (let turn = 0; turn < 2; turn++) {
    const persisted = new PersistedQueryLink({ sha256, useGETForHashedQueries: byGet });
    const http = new HttpLink({ uri: ENDPOINT, headers: authorization(), fetch: counted });
    const client = new ApolloClient({ cache: new InMemoryCache(), link: persisted.concat(http) });
    const options = { query: apolloGql(queryOf(part)), variables: NAME, fetchPolicy: "network-only" };
    names.push((await client.query(options)).data.user.username);
  }
  return { names, sent };
}

async function urql(part, byGet) {
  const { sent, counted } = counting();
  const names = [];
  for (let turn = 0; turn < 2; turn++) {
    const client = new Client({
      url: ENDPOINT,
      exchanges: [persistedExchange({ preferGetForPersistedQueries: byGet }), fetchExchange],
      fetchOptions: () => ({ headers: authorization() }),
      fetch: counted,
      preferGetMethod: byGet,
    });
    const query = gql(queryOf(part));
    const { data, error } = await client.query(query, NAME, { requestPolicy: "network-only" }).toPromise();
    if (error) throw error;
    names.push(data.user.username);
  }
  return { names, sent };
}

await report(async () => ({
  apollo: { post: await apollo("ApolloPost", false), get: await apollo("ApolloGet", true) },
  urql: { post: await urql("UrqlPost", false), get: await urql("UrqlGet", true) },
}));
