/** The checks of `verifyLedger` of deposits that the chain took back, and of what became of it. */
export const orphanChecks: Record<string, string> = {
  'entries of an orphaned deposit': `
    with found as (
      select x.vault_id, x.id, x.amount, x.taken, x.returned_at is not null as is_back,
        coalesce(array_agg(e.kind order by e.kind) filter (where e.kind is not null), '{}') as kinds,
        coalesce(bool_and(e.amount = case e.kind when 'orphan' then x.taken else x.amount end and e.token_id = x.token_id
          and coalesce(d.address_id, c.address_id) = x.address_id) filter (where e.kind is not null), true) as fits
      from deposit_orphans x
      left join ledger_entries e on e.vault_id = x.vault_id and e.operation_id = x.id
      left join ledger_accounts d on d.vault_id = e.vault_id and d.number = e.debit_account
      left join ledger_accounts c on c.vault_id = e.vault_id and c.number = e.credit_account
      group by x.vault_id, x.id
    )
    select vault_id, format('orphaning %s took %s of %s and has entries %s', id, taken, amount, kinds::text) as detail
    from found
    where not fits or kinds is distinct from
      case when taken > 0 then array['orphan'] else '{}' end || case when is_back then array['orphan_return'] else '{}' end`,
  'orphaned deposit': `
    select o.vault_id, format('deposit %s is %s, orphaned %s, with %s open orphanings', o.id, o.status,
      coalesce(d.orphaned_at::text, 'never'), case when x.id is null then 'no' else '1' end) as detail
    from operations o
    join deposits d on d.vault_id = o.vault_id and d.id = o.id
    left join deposit_orphans x on x.vault_id = o.vault_id and x.deposit_id = o.id and x.returned_at is null
    where o.type = 'deposit' and ((o.status = 'failed') <> (d.orphaned_at is not null)
      or (d.orphaned_at is not null) <> (x.id is not null)
      or (x.id is not null and (x.amount <> o.amount or x.address_id <> o.address_id or x.token_id <> o.token_id)))
    union all
    select x.vault_id, format('orphaning %s is of the deposit %s, which does not exist', x.id, x.deposit_id)
    from deposit_orphans x left join operations o on o.vault_id = x.vault_id and o.id = x.deposit_id and o.type = 'deposit'
    where o.id is null`,
  'cover of an exposure': `
    select k.vault_id, format('cover %s of %s has no entry that fits', k.id, k.amount) as detail
    from exposure_covers k
    left join ledger_entries e on e.vault_id = k.vault_id and e.operation_id = k.id and e.kind = 'cover'
    left join ledger_accounts d on d.vault_id = e.vault_id and d.number = e.debit_account
    where e.sequence is null or e.amount <> k.amount or e.token_id <> k.token_id or d.address_id is distinct from k.address_id`,
  exposure: `
    with changes as (
      select vault_id, address_id, token_id, amount - taken as change from deposit_orphans
      union all
      select vault_id, address_id, token_id, -amount from exposure_covers
    ), sums as (select vault_id, address_id, token_id, sum(change) as exposure from changes group by 1, 2, 3)
    select coalesce(a.vault_id, s.vault_id) as vault_id, format('address %s is exposed by %s of %s, its orphanings and covers say %s',
      coalesce(a.address_id, s.address_id), coalesce(a.exposure, 0), coalesce(a.token_id, s.token_id), coalesce(s.exposure, 0)) as detail
    from (select * from ledger_accounts where purpose = 'available') a
    full join sums s on s.vault_id = a.vault_id and s.address_id = a.address_id and s.token_id = a.token_id
    where coalesce(a.exposure, 0) <> coalesce(s.exposure, 0)
    union all
    select vault_id, format('account %s holds %s and is exposed by %s', id, balance, exposure) from ledger_accounts
    where exposure > 0 and balance > 0`,
}
