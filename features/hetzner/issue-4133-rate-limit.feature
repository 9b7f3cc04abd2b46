# https://github.com/kubernetes/autoscaler/issues/4133

@cluster-autoscaler @hetzner @issue-4133
Feature: A request that Hetzner limits is made again

  Hetzner answers 429 when a project has made too many requests. A moment later
  there is room again; five minutes of back-off are not needed.

  Background:
    Given a cluster
    And a Hetzner Cloud project that still has the server type "cx11"
    And a Ready Node "control-plane" on a server of the project
    And a node group "pool1" of 0 to 3 servers of type "cx22" in "fsn1"

  @hetzner-4133-rate-limit
  Scenario: Three answers with 429 to a request for a server
    Given each of the first 3 calls "create servers" to the cloud is rate limited, and the limit resets 1h later
    And Cluster Autoscaler
    When a pod "web" that requests 1 CPU is created
    Then at least 1 server of the group "pool1" is created within 2m
    And the pod "web" is Running within 5m
