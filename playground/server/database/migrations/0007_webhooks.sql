CREATE TABLE `webhook_deliveries` (
	`id` text PRIMARY KEY NOT NULL,
	`webhook_id` text NOT NULL,
	`event` text NOT NULL,
	`resource` text,
	`record_id` text,
	`status` text NOT NULL,
	`attempts` integer NOT NULL,
	`response_status` integer,
	`response_body` text,
	`error` text,
	`created_at` integer NOT NULL,
	`delivered_at` integer,
	`due_at` integer,
	`owner` text NOT NULL,
	`organization_id` text,
	`position` integer NOT NULL,
	`lease` text,
	`columns` text,
	`image` text
);
--> statement-breakpoint
CREATE INDEX `webhook_deliveries_due` ON `webhook_deliveries` (`webhook_id`,`due_at`,`position`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_record` ON `webhook_deliveries` (`webhook_id`,`resource`,`record_id`,`status`,`position`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_position` ON `webhook_deliveries` (`position`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_created_at` ON `webhook_deliveries` (`created_at`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_owner` ON `webhook_deliveries` (`organization_id`,`owner`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `webhooks` (
	`id` text PRIMARY KEY NOT NULL,
	`url` text(2048) NOT NULL,
	`events` text NOT NULL,
	`description` text(200),
	`active` integer DEFAULT true NOT NULL,
	`owner` text NOT NULL,
	`organization_id` text,
	`slot` text NOT NULL,
	`paused_reason` text,
	`failures` integer NOT NULL,
	`secret` text NOT NULL,
	`previous_secret` text,
	`previous_until` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `webhooks_slot_unique` ON `webhooks` (`slot`);--> statement-breakpoint
CREATE INDEX `webhooks_owner` ON `webhooks` (`organization_id`,`owner`);