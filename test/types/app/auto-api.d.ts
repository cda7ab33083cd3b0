/** Written by nuxt-auto-api: the registered resources. */
declare module "../../../src/runtime/shared/types/resources" {
  interface AutoApiResources {
    writers: {
      table: typeof import("./tables")["writers"],
      hidden: "secret",
      create: "name" | "secret",
      update: "name" | "secret",
      filled: never,
      relations: {
        articles: { to: "articles", many: true },
        ratings: { to: "ratings", many: true },
        articlesByRatings: { to: "articles", many: true }
      },
      disabled: never,
      validation: undefined
    },
    articles: {
      table: typeof import("./tables")["articles"],
      hidden: never,
      create: "writerId" | "title" | "status" | "featured" | "reads" | "price" | "layout" | "publishedAt" | "createdAt",
      update: "writerId" | "title" | "status" | "featured" | "reads" | "price" | "layout" | "publishedAt",
      filled: "createdAt",
      relations: {
        writer: { to: "writers", many: false },
        ratings: { to: "ratings", many: true },
        labels: { to: "labels", many: true },
        writers: { to: "writers", many: true }
      },
      disabled: never,
      validation: undefined
    },
    labels: {
      table: typeof import("./tables")["labels"],
      hidden: never,
      create: "name" | "colour",
      update: "name" | "colour",
      filled: never,
      relations: {
        articles: { to: "articles", many: true }
      },
      disabled: never,
      validation: typeof import("./tables")["labelsValidation"]
    },
    ratings: {
      table: typeof import("./tables")["ratings"],
      hidden: never,
      create: "articleId" | "writerId" | "stars" | "remarks",
      update: "stars" | "remarks",
      filled: never,
      relations: {
        article: { to: "articles", many: false },
        writer: { to: "writers", many: false }
      },
      disabled: never,
      validation: undefined
    },
    notices: {
      table: typeof import("./tables")["notices"],
      hidden: never,
      create: "title",
      update: "title",
      filled: never,
      relations: {},
      disabled: "delete" | "purge",
      validation: undefined
    },
    replies: {
      table: typeof import("./tables")["replies"],
      hidden: never,
      create: "noticeId" | "body",
      update: "noticeId" | "body",
      filled: never,
      relations: {
        notice: { to: "notices", many: false }
      },
      disabled: "read" | "aggregate" | "update",
      validation: undefined
    }
  }
  interface AutoApiSettings { pagination: "offset" }
  interface AutoApiEndpoints {
    "/api/report": {
      GET: import("nitropack/types").Serialize<Awaited<ReturnType<typeof import("./server/api/report.get").default>>>,
      POST: import("nitropack/types").Serialize<Awaited<ReturnType<typeof import("./server/api/report.post").default>>>
    },
    "/api/articles/:id/publish": {
      POST: import("nitropack/types").Serialize<Awaited<ReturnType<typeof import("./server/api/articles/[id]/publish.post").default>>>
    }
  }
}
export {}
