// Writes src/gen: the types of every document in src, checked against the committed schema.
import type { CodegenConfig } from "@graphql-codegen/cli";

export default {
  schema: "../schema/schema.graphql",
  documents: ["src/**/*.{ts,tsx}", "!src/gen/**"],
  generates: {
    [process.env.PINWAY_GEN_OUT ?? "src/gen/"]: {
      preset: "client",
      presetConfig: { fragmentMasking: false },
      config: {
        scalars: { DateTime: "string" },
        enumsAsTypes: true,
        useTypeImports: true,
        // Optimistic answers are written to the cache, so they name their types as real answers do.
        nonOptionalTypename: true,
        skipTypeNameForRoot: true,
      },
    },
  },
} satisfies CodegenConfig;
