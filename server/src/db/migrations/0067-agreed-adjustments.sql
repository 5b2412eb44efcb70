-- Policies count what two people agreed on: whether an adjustment is, follows from the approval request that made it.
create index approval_requests_adjustments on approval_requests (vault_id, resolved_result_id)
  where action = 'balance_adjust' and status = 'applied';
create index adjustments_account on adjustments (vault_id, address_id, token_id);
