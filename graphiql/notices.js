// Writes NOTICES.txt: the licenses of the packages whose code the built files contain.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const LICENSE_FILE = /^(?:licen[cs]e|notice|copying|thirdpartynotices)/i;
const PACKAGE = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//;
const RULE = "=".repeat(78);

const HEADER = `Third parties' notices

The files in this folder are built from graphiql and contain code of these packages.
The icon font codicon.ttf is Microsoft's vscode-codicons, which the license Creative Commons
Attribution 4.0 International covers. The editor contains DOMPurify (Apache-2.0 or MPL-2.0, Cure53
and other contributors) and marked (MIT, Christopher Jeffrey and MarkedJS).
`;

function licenses(folder) {
  const files = readdirSync(folder).filter((name) => LICENSE_FILE.test(name));
  const texts = files.sort().map((name) => readFileSync(join(folder, name), "utf8"));
  return texts.join("\n\n").replaceAll("\r\n", "\n").trim();
}

// Packages that ship no license text of their own, and the one whose text is theirs too: it comes
// from the same repository, or from the same author under the same license.
const COVERED_BY = {
  "@graphiql/plugin-doc-explorer": "graphiql",
  "@graphiql/plugin-explorer": "graphiql",
  "@graphiql/plugin-history": "graphiql",
  "@wry/context": "@wry/equality",
  "@wry/trie": "@wry/equality",
  "react-compiler-runtime": "react",
  "react-remove-scroll-bar": "react-remove-scroll",
};

// Texts of licenses that name no author, for packages that ship no license text.
const COMMON = {
  Unlicense: `This is free and unencumbered software released into the public domain.

Anyone is free to copy, modify, publish, use, compile, sell, or distribute this software, either in
source code form or as a compiled binary, for any purpose, commercial or non-commercial, and by any
means.

In jurisdictions that recognize copyright laws, the author or authors of this software dedicate any
and all copyright interest in the software to the public domain. We make this dedication for the
benefit of the public at large and to the detriment of our heirs and successors. We intend this
dedication to be an overt act of relinquishment in perpetuity of all present and future rights to
this software under copyright law.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY,
WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE
SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.

For more information, please refer to <https://unlicense.org/>`,
};

export class Notices {
  #folders = new Set();
  #header;

  constructor(header = HEADER) {
    this.#header = header;
  }

  // Notes the package of each module that went into a chunk: of the page, and of each worker.
  collector() {
    return {
      name: "collect-notices",
      generateBundle: (_options, bundle) => {
        for (const chunk of Object.values(bundle)) {
          for (const [id, module] of Object.entries(chunk.modules ?? {})) {
            if (module.renderedLength > 0 || /\.css(?:\?|$)/.test(id)) this.#note(id);
          }
        }
      },
    };
  }

  writer() {
    const notices = this;
    return {
      name: "write-notices",
      generateBundle: {
        order: "post",
        handler() {
          this.emitFile({ type: "asset", fileName: "NOTICES.txt", source: notices.text() });
        },
      },
    };
  }

  #note(id) {
    const folder = PACKAGE.exec(id.replace(/^\0/, "").replaceAll("\\", "/"))?.[1];
    if (folder && existsSync(join(folder, "package.json"))) this.#folders.add(folder);
  }

  text() {
    const packages = [...this.#folders].map((folder) => ({
      ...JSON.parse(readFileSync(join(folder, "package.json"), "utf8")),
      text: licenses(folder),
    }));
    const textOf = (name) => packages.find((manifest) => manifest.name === name)?.text;
    const titles = new Map();
    for (const { name, version, license, text } of packages) {
      const own = text || textOf(COVERED_BY[name]) || COMMON[license];
      if (!own) throw new Error(`no license text for ${name} ${version}: see COVERED_BY`);
      titles.set(own, [...(titles.get(own) ?? []), `${name} ${version} (${license})`]);
    }
    const sections = [...titles].map(([text, names]) => [[...new Set(names)].sort(), text]);
    sections.sort(([[a]], [[b]]) => (a < b ? -1 : 1));
    const body = sections.map(([names, text]) => `${RULE}\n${names.join("\n")}\n\n${text}\n`);
    return [this.#header, ...body].join("\n");
  }
}
