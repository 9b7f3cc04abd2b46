# Asked for by https://github.com/aws/karpenter-provider-aws/issues/4403.

@karpenter @issue-4403
Feature: Releases take each other's place, all the way and back

  Beside the steps, the invariants upgrade-leaves-alone, upgrade-carries-on and restart-idempotence judge each upgrade.

  Background:
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And the release v1.6.4 runs in place of the target until it is upgraded
    And the target has the environment variables:
      | BATCH_IDLE_DURATION | 15s |
      | BATCH_MAX_DURATION  | 3m  |
    And Karpenter with a NodePool "default"
    When these objects from the file "spread.yaml" are created

  @karpenter-4403-all-the-way-busy
  Scenario: Pods wait at the upgrades on the way, and machines are removed at those on the way back
    Then "replicaset-controller" has ever sent "create" of "pods" 6 times within 1m
    When the target is upgraded to v1.7.0
    Then every pod is Running within 5m
    When "Deployment/web" is scaled to 9
    Then "replicaset-controller" has ever sent "create" of "pods" 9 times within 1m
    When the target is upgraded
    Then every pod is Running within 5m
    When "Deployment/web" is scaled to 6
    Then "karpenter" has sent "delete" of "nodeclaims" within 3m
    When the target is rolled back
    Then "karpenter" has ever sent "delete" of "nodes" 3 times within 10m
    When "Deployment/web" is scaled to 3
    Then "karpenter" has sent "delete" of "nodeclaims" within 3m
    When the target is upgraded to v1.6.4
    Then 25m from now, exactly 9 NodeClaims have been created since the start
    And "karpenter" has ever sent "delete" of "nodes" exactly 6 times within 1s
    And every pod is Running within 1m
