// Runs graphql-http's audit of the server: each rule of GraphQL over HTTP.
import { auditServer } from "graphql-http";
import { ENDPOINT, report } from "./support.mjs";

await report(async () => {
  const results = await auditServer({ url: ENDPOINT });
  return {
    results: results.map(({ id, name, status, reason }) => ({ id, name, status, reason })),
  };
});
