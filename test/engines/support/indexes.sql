create index posts_list on posts (organization_id, created_at, id);
create index posts_group on posts (deletion_id);
create index comments_post on comments (post_id);
create index comments_parent on comments (parent_id);
create index comments_group on comments (deletion_id);
