CREATE TABLE `comments` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`post_id` integer NOT NULL,
	`author_id` integer,
	`body` text(2000) NOT NULL,
	`status` text DEFAULT 'pending' NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`created_by` integer,
	`updated_by` integer,
	`deleted_at` integer,
	`deleted_by` integer,
	`deletion_id` text,
	`deleted_reason` text,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`post_id`) REFERENCES `posts`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`author_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE INDEX `comments_organization_status` ON `comments` (`organization_id`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `comments_post` ON `comments` (`post_id`,`id`);--> statement-breakpoint
CREATE INDEX `comments_author` ON `comments` (`author_id`,`id`);--> statement-breakpoint
CREATE TABLE `media` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`post_id` integer,
	`uploader_id` integer,
	`kind` text NOT NULL,
	`filename` text(200) NOT NULL,
	`mime_type` text(100) NOT NULL,
	`bytes` integer NOT NULL,
	`alt` text(300),
	`details` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`created_by` integer,
	`updated_by` integer,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`post_id`) REFERENCES `posts`(`id`) ON UPDATE no action ON DELETE set null,
	FOREIGN KEY (`uploader_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE INDEX `media_organization_kind` ON `media` (`organization_id`,`kind`,`id`);--> statement-breakpoint
CREATE INDEX `media_post` ON `media` (`post_id`);--> statement-breakpoint
CREATE INDEX `media_uploader` ON `media` (`uploader_id`);--> statement-breakpoint
CREATE TABLE `organizations` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`name` text(80) NOT NULL,
	`slug` text(80) NOT NULL,
	`city` text(80),
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `organizations_slug_unique` ON `organizations` (`slug`);--> statement-breakpoint
CREATE TABLE `posts` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`author_id` integer,
	`title` text(160) NOT NULL,
	`slug` text(180) NOT NULL,
	`excerpt` text(400),
	`body` text NOT NULL,
	`status` text DEFAULT 'draft' NOT NULL,
	`featured` integer DEFAULT false NOT NULL,
	`views` integer DEFAULT 0 NOT NULL,
	`published_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`created_by` integer,
	`updated_by` integer,
	`deleted_at` integer,
	`deleted_by` integer,
	`deletion_id` text,
	`deleted_reason` text,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`author_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE INDEX `posts_organization_status` ON `posts` (`organization_id`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `posts_author` ON `posts` (`author_id`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `posts_slug` ON `posts` (`organization_id`,`slug`) WHERE "posts"."deleted_at" is null;--> statement-breakpoint
CREATE TABLE `posts_tags` (
	`post_id` integer NOT NULL,
	`tag_id` integer NOT NULL,
	`position` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`post_id`, `tag_id`),
	FOREIGN KEY (`post_id`) REFERENCES `posts`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`tag_id`) REFERENCES `tags`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `posts_tags_tag` ON `posts_tags` (`tag_id`,`post_id`);--> statement-breakpoint
CREATE TABLE `tags` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`name` text(60) NOT NULL,
	`slug` text(60) NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tags_slug` ON `tags` (`organization_id`,`slug`);--> statement-breakpoint
CREATE TABLE `users` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`name` text(80) NOT NULL,
	`email` text(160) NOT NULL,
	`role` text DEFAULT 'reader' NOT NULL,
	`salary` integer,
	`password_hash` text,
	`active` integer DEFAULT true NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_email_unique` ON `users` (`email`);--> statement-breakpoint
CREATE INDEX `users_organization` ON `users` (`organization_id`,`id`);