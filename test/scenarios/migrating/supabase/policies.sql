alter table documents enable row level security;

create policy "published documents are public" on documents for select
  using (published);

create policy "members read the documents of their teams" on documents for select to authenticated
  using (exists (select 1 from members m where m.team_id = documents.team_id and m.user_id = auth.uid()));

create policy "editors create documents" on documents for insert to authenticated
  with check (author_id = auth.uid() and exists (
    select 1 from members m where m.team_id = documents.team_id and m.user_id = auth.uid() and m.role = 'editor'));

create policy "authors change their documents" on documents for update to authenticated
  using (author_id = auth.uid());

create policy "authors delete their drafts" on documents for delete to authenticated
  using (author_id = auth.uid() and not published);
