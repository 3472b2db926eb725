// Builds the manifests of Relay's compiler, Apollo's generator and GraphQL Code Generator in FOLDER,
// from the schema in SCHEMA. Prints the operations' ids, by tool and name.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { report } from "./support.mjs";

const HERE = import.meta.dirname;
const { FOLDER, SCHEMA, WEB } = process.env;
const APOLLO_QUERY = "query Apollo($name: String!) { user(username: $name) { id username } }";
const CODEGEN_QUERY = "query Codegen($name: String!) { user(username: $name) { username } }";

const run = (folder, ...command) => execFileSync(process.execPath, command, { cwd: folder, stdio: "pipe" });
const json = (path) => JSON.parse(readFileSync(path, "utf8"));

function made(name, modules) {
  const folder = join(FOLDER, name);
  mkdirSync(folder);
  symlinkSync(join(modules, "node_modules"), join(folder, "node_modules"));
  cpSync(SCHEMA, join(folder, "schema.graphql"));
  return folder;
}

function relay() {
  const folder = made("relay", HERE);
  cpSync(join(HERE, "relay"), folder, { recursive: true });
  mkdirSync(join(folder, "artifacts"));
  const config = {
    src: ".",
    schema: "schema.graphql",
    language: "javascript",
    artifactDirectory: "artifacts",
    eagerEsModules: false,
    persistConfig: { file: "./persisted.json", algorithm: "SHA256" },
  };
  writeFileSync(join(folder, "relay.config.json"), JSON.stringify(config));
  writeFileSync(join(folder, "persisted.json"), "{}");
  writeFileSync(join(folder, "package.json"), '{"type": "commonjs"}');
  run(folder, join(HERE, "node_modules", "relay-compiler", "cli.js"), "relay.config.json");
  const texts = Object.entries(json(join(folder, "persisted.json")));
  return Object.fromEntries(texts.map(([id, text]) => [/(?:query|mutation) (\w+)/.exec(text)[1], id]));
}

function apollo() {
  const folder = made("apollo", HERE);
  writeFileSync(join(folder, "package.json"), "{}");
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "src", "query.graphql"), APOLLO_QUERY);
  const cli = join(HERE, "node_modules", "@apollo", "generate-persisted-query-manifest", "cli.js");
  const config = { documents: ["src/query.graphql"], output: "persisted.json" };
  writeFileSync(join(folder, "persisted-query-manifest.config.json"), JSON.stringify(config));
  run(folder, cli);
  const { operations } = json(join(folder, "persisted.json"));
  return Object.fromEntries(operations.map(({ name, id }) => [name, id]));
}

function codegen() {
  const folder = made("codegen", WEB);
  writeFileSync(join(folder, "query.graphql"), CODEGEN_QUERY);
  const config = {
    schema: "schema.graphql",
    documents: ["query.graphql"],
    generates: { "gen/": { preset: "client", presetConfig: { persistedDocuments: { hashAlgorithm: "sha256" } } } },
  };
  writeFileSync(join(folder, "codegen.json"), JSON.stringify(config));
  const cli = join(WEB, "node_modules", "@graphql-codegen", "cli", "esm", "bin.js");
  run(folder, cli, "--config", "codegen.json");
  const ids = Object.keys(json(join(folder, "gen", "persisted-documents.json")));
  return { Codegen: ids[0] };
}

await report(async () => ({ relay: relay(), apollo: apollo(), codegen: codegen() }));
