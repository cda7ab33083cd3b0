CREATE TABLE `api_tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text(100) NOT NULL,
	`user_id` text NOT NULL,
	`organization_id` text,
	`scopes` text,
	`start` text NOT NULL,
	`token_hash` text NOT NULL,
	`previous_hash` text,
	`previous_until` integer,
	`expires_at` integer,
	`last_used_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`deleted_at` integer,
	`deleted_by` text,
	`deletion_id` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_tokens_token_hash_unique` ON `api_tokens` (`token_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `api_tokens_previous_hash_unique` ON `api_tokens` (`previous_hash`);