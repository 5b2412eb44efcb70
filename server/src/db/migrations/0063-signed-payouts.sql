-- People sign payouts, too: one vote for all rows of one.
alter table signed_votes drop constraint signed_votes_subject_type_check;
alter table signed_votes add constraint signed_votes_subject_type_check
  check (subject_type in ('transfer', 'payout', 'approval_request'));
