CREATE TABLE `idempotency_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`parent` text,
	`record_id` text,
	`fingerprint` text NOT NULL,
	`access` text,
	`status` integer,
	`body` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `idempotency_keys_parent` ON `idempotency_keys` (`parent`);--> statement-breakpoint
CREATE INDEX `idempotency_keys_expires_at` ON `idempotency_keys` (`expires_at`);