# https://github.com/kubernetes/autoscaler/issues/8013
# https://github.com/mysticaltech/terraform-hcloud-kube-hetzner/issues/1278

@cluster-autoscaler @hetzner @issue-8013
Feature: A server that does not start is deleted at its timeout, however long that is

  A loop waits for a new server as long as HCLOUD_SERVER_CREATION_TIMEOUT says; kube-hetzner
  sets 15 minutes. The health check fails once a loop has taken --max-inactivity, ten minutes.

  Background:
    Given a cluster
    And a Hetzner Cloud project that still has the server type "cx11"
    And a Ready Node "control-plane" on a server of the project
    And a node group "pool1" of 0 to 3 servers of type "cx22" in "fsn1"
    And every action "start_server" in the cloud never ends
    And the target has the environment variables:
      | HCLOUD_SERVER_CREATION_TIMEOUT | 15 |

  @hetzner-8013-killed-while-waiting
  Scenario: A timeout of 15 minutes, and a liveness probe
    Given Cluster Autoscaler
    And a liveness probe asks the target every 10s, and restarts it after 3 failures
    When the scenario waits for 1m
    And a pod "web" that requests 1 CPU is created
    Then a server of the group "pool1" that has not started is deleted within 17m

  @hetzner-8013-longer-inactivity
  Scenario: A timeout of 15 minutes, a liveness probe, and loops that may take 20
    Given Cluster Autoscaler with the flags:
      | --max-inactivity | 20m |
    And a liveness probe asks the target every 10s, and restarts it after 3 failures
    When the scenario waits for 1m
    And a pod "web" that requests 1 CPU is created
    Then a server of the group "pool1" that has not started is deleted within 17m
