-- The steps of the nixlv2 connector: requests one token from the prefiller, then lets nginx forward the original request to decode, with
-- the prefiller's kv_transfer_params.
local balancer = require "ngx.balancer"
local json = require "cjson"

local none = json.null
local prefill_params = {
  do_remote_decode = true,
  do_remote_prefill = false,
  remote_engine_id = none,
  remote_block_ids = none,
  remote_host = none,
  remote_port = none,
}
local edited = { "stream", "stream_options", "max_tokens", "max_completion_tokens", "min_tokens" }

local M = {}

function M.choose_prefiller()
  local host, port = ngx.var.http_x_prefiller_host_port:match("^%s*([^:,]+):(%d+)")
  assert(balancer.set_current_peer(host, tonumber(port)))
end

local function body_of_request()
  ngx.req.read_body()
  local ok, body = pcall(json.decode, ngx.req.get_body_data())
  if not ok then ngx.exit(400) end
  return body
end

local function ask_prefiller(body)
  body.kv_transfer_params = prefill_params
  body.stream = false
  body.stream_options = nil
  body.max_tokens = 1
  body.max_completion_tokens = 1
  body.min_tokens = 1
  local answer = ngx.location.capture("/prefill" .. ngx.var.uri, {
    method = ngx.HTTP_POST,
    args = ngx.var.args,
    body = json.encode(body),
  })
  if answer.status < 200 or answer.status > 299 then
    ngx.status = answer.status
    ngx.print(answer.body)
    ngx.exit(answer.status)
  end
  return json.decode(answer.body)
end

function M.prefill()
  if not ngx.var.http_x_prefiller_host_port then return end
  local body = body_of_request()
  local original = {}
  for _, field in ipairs(edited) do original[field] = body[field] end
  local answer = ask_prefiller(body)
  for _, field in ipairs(edited) do body[field] = original[field] end
  body.kv_transfer_params = answer.kv_transfer_params or none
  ngx.req.set_body_data(json.encode(body))
end

return M
