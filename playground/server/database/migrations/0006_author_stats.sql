CREATE VIEW `author_stats` AS 
  select u.id as author_id, u.organization_id, u.name, count(p.id) as posts, coalesce(sum(p.views), 0) as views,
    (select count(*) from comments c join posts a on a.id = c.post_id where a.author_id = u.id and a.status = 'published'
      and a.deleted_at is null and c.status = 'approved' and c.deleted_at is null) as comments
  from users u left join posts p on p.author_id = u.id and p.status = 'published' and p.deleted_at is null
  group by u.id
;