# A control of https://github.com/kubernetes/autoscaler/issues/8671, about endpoints in place of AWS's own: AWS answers every call.

@cluster-autoscaler @aws @issue-8671
Feature: Cluster Autoscaler raises an Auto Scaling group, and lowers it

  Scenario Outline: A pod needs a machine, and then does not
    Given a cluster
    And <region>
    And a Ready Node "system" for system pods only
    And these node groups:
      | name | type     | min | max | labels | taints              |
      | web  | m5.large | 0   | 3   | pool=a | only=web:NoSchedule |
      | any  | m5.large | 0   | 3   |        |                     |
    And Cluster Autoscaler with the flags:
      | --scale-down-unneeded-time   | 1m |
      | --scale-down-delay-after-add | 1m |
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 5m
    And this holds:
      """
      sequence:
        - as: asked for
          match: {source: cloud, verb: SetDesiredCapacity, actor: cluster-autoscaler, code: 200, detail: {group: any, to: 1}}
        - as: registered
          match: {source: node, verb: register, resource: nodes}
          capture: {node: name}
        - as: running
          match: {source: node, verb: running, resource: pods, name: web, detail: {node: $node}}
      """
    When "Pod/web" is deleted
    Then this holds within 10m:
      """
      sequence:
        - as: terminated
          match: {source: cloud, verb: TerminateInstanceInAutoScalingGroup, actor: cluster-autoscaler, code: 200}
        - as: gone
          match: {source: cloud, verb: deleted, resource: instances}
        - as: no Node
          match: {source: api, verb: delete, resource: nodes}
      """

    @aws-8671-answered
    Examples: under AWS's own names
      | region        |
      | an AWS region |

    @aws-8671-answered-endpoint
    Examples: at an endpoint out of a variable and the cloud's configuration
      | region                                |
      | an AWS region behind AWS_ENDPOINT_URL |
