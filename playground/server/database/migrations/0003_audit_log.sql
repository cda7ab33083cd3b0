CREATE TABLE `audit_log` (
	`id` text PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`kind` text NOT NULL,
	`resource` text NOT NULL,
	`record_id` text,
	`root_id` text,
	`user_id` text,
	`token_id` text,
	`via` text,
	`tenant_id` text,
	`request_id` text,
	`ip` text,
	`columns` text,
	`before` text,
	`after` text,
	`reason` text
);
--> statement-breakpoint
CREATE INDEX `audit_log_record` ON `audit_log` (`resource`,`record_id`,`id`);--> statement-breakpoint
CREATE INDEX `audit_log_kind` ON `audit_log` (`resource`,`record_id`,`kind`);--> statement-breakpoint
CREATE INDEX `audit_log_tenant` ON `audit_log` (`tenant_id`,`id`);--> statement-breakpoint
CREATE INDEX `audit_log_at` ON `audit_log` (`at`);